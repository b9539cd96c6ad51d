"""What other programs send to a window, over libX11: a window manager its close button, a file manager a file (the XDND
protocol, version 5)."""

import ctypes
import time
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_ubyte, c_ulong, c_void_p
from urllib.parse import quote

CLIENT_MESSAGE, SELECTION_REQUEST, SELECTION_NOTIFY = 33, 30, 31
PATIENCE_S = 60


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p), ("window", c_ulong),
                ("message_type", c_ulong), ("format", c_int), ("data", c_long * 5)]


class SelectionRequest(ctypes.Structure):
    _fields_ = [("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p), ("owner", c_ulong),
                ("requestor", c_ulong), ("selection", c_ulong), ("target", c_ulong), ("property", c_ulong), ("time", c_ulong)]


class SelectionNotify(ctypes.Structure):
    _fields_ = [("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p),
                ("requestor", c_ulong), ("selection", c_ulong), ("target", c_ulong), ("property", c_ulong), ("time", c_ulong)]


class Event(ctypes.Union):
    _fields_ = [("type", c_int), ("message", ClientMessage), ("request", SelectionRequest), ("notify", SelectionNotify),
                ("pad", c_long * 24)]


def library():
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = c_void_p
    x11.XDefaultRootWindow.argtypes, x11.XDefaultRootWindow.restype = [c_void_p], c_ulong
    x11.XInternAtom.argtypes, x11.XInternAtom.restype = [c_void_p, c_char_p, c_int], c_ulong
    x11.XCreateSimpleWindow.argtypes = [c_void_p, c_ulong, c_int, c_int, c_int, c_int, c_int, c_ulong, c_ulong]
    x11.XCreateSimpleWindow.restype = c_ulong
    x11.XSetSelectionOwner.argtypes = [c_void_p, c_ulong, c_ulong, c_ulong]
    x11.XSendEvent.argtypes = [c_void_p, c_ulong, c_int, c_long, POINTER(Event)]
    x11.XNextEvent.argtypes = [c_void_p, POINTER(Event)]
    x11.XPending.argtypes = x11.XFlush.argtypes = x11.XCloseDisplay.argtypes = [c_void_p]
    x11.XChangeProperty.argtypes = [c_void_p, c_ulong, c_ulong, c_ulong, c_int, c_int, POINTER(c_ubyte), c_int]
    return x11


class Connection:
    """To the X server, to be closed by the caller."""

    def __init__(self, display_name):
        self.x11 = library()
        self.display = self.x11.XOpenDisplay(display_name.encode())
        assert self.display, "no X server"

    def atom(self, name):
        return self.x11.XInternAtom(self.display, name.encode(), 0)

    def send(self, window, name, *data):
        event = Event(message=ClientMessage(type=CLIENT_MESSAGE, display=self.display, window=window,
                                            message_type=self.atom(name), format=32, data=(c_long * 5)(*data)))
        self.x11.XSendEvent(self.display, window, 0, 0, byref(event))
        self.x11.XFlush(self.display)

    def close(self):
        self.x11.XCloseDisplay(self.display)


def press_close_button(display_name, window):
    connection = Connection(display_name)
    connection.send(window, "WM_PROTOCOLS", connection.atom("WM_DELETE_WINDOW"))
    connection.close()


def drop_file(display_name, window, file):
    """Returns when the window has finished with the file."""
    connection = Connection(display_name)
    x11, display, atom = connection.x11, connection.display, connection.atom
    uri = f"file://{quote(file)}\r\n".encode()
    source = x11.XCreateSimpleWindow(display, x11.XDefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0)
    x11.XSetSelectionOwner(display, atom("XdndSelection"), source, 0)

    def send(name, *data):
        connection.send(window, name, source, *data)

    def answer(request):
        bytes_of_uri = (c_ubyte * len(uri)).from_buffer_copy(uri)
        x11.XChangeProperty(display, request.requestor, request.property, request.target, 8, 0, bytes_of_uri, len(uri))
        event = Event(notify=SelectionNotify(type=SELECTION_NOTIFY, display=display, requestor=request.requestor,
                                             selection=request.selection, target=request.target,
                                             property=request.property, time=request.time))
        x11.XSendEvent(display, request.requestor, 0, 0, byref(event))
        x11.XFlush(display)

    def wait_for(name):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if not x11.XPending(display):
                time.sleep(0.05)
                continue
            event = Event()
            x11.XNextEvent(display, byref(event))
            if event.type == SELECTION_REQUEST:
                answer(event.request)
            elif event.type == CLIENT_MESSAGE and event.message.message_type == atom(name):
                return
        raise AssertionError(f"no {name} from the window")

    try:
        send("XdndEnter", 5 << 24, atom("text/uri-list"), 0, 0)
        send("XdndPosition", 0, 700 << 16 | 300, 0, atom("XdndActionCopy"))
        wait_for("XdndStatus")
        send("XdndDrop", 0, 0, 0, 0)
        wait_for("XdndFinished")
    finally:
        connection.close()
