#!/usr/bin/env python3
"""Fails unless a page is well-formed and complete in itself: check_page.py FILE.html"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

VOID = {"meta", "img"}


class Page(HTMLParser):
    """Elements are closed in order, nothing is loaded, and nothing runs."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems = [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "iframe", "object"):
            self.problems.append(f"<{tag}>")
        for name, value in attrs:
            if name in ("src", "href") and not value.startswith("data:"):
                self.problems.append(f"{name}={value}")
            if name.startswith("on"):
                self.problems.append(name)
            if tag in ("line", "rect", "circle", "polyline") and ("nan" in value or "inf" in value):
                self.problems.append(f"<{tag} {name}={value}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")  # throws if it is not UTF-8
    ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    page = Page()
    page.feed(text)
    page.close()
    sys.exit(f"{sys.argv[1]}: {page.problems}, open: {page.open}" if page.problems or page.open else 0)


main()
