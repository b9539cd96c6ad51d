// A library with NVML's functions that knows one GPU, at 0000:1b:00.0: what nvml_test.cpp loads in place of the real
// one.
#include <cstring>

extern "C" {

int nvmlInit_v2();
int nvmlShutdown();
const char* nvmlErrorString(int);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetClockInfo(void*, int, unsigned*);
int nvmlDeviceGetPowerUsage(void*, unsigned*);
int nvmlDeviceGetTemperature(void*, int, unsigned*);
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long*);

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == 6 ? "Not Found" : "Not Supported";
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = nullptr;
  return std::strcmp(id, "0000:1b:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1980 : which == 2 ? 2619 : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatt) {
  *milliwatt = 482500;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned*) {
  return 3;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* mask) {
  *mask = 0x4 | 0x40 | 0x800;
  return 0;
}
}
