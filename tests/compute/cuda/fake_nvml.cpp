// A library with NVML's functions: what nvml_test.cpp loads in place of the real one. It knows two GPUs, at
// 0000:1b:00.0 and 0000:1c:00.0; the second does not tell the power of the moment.
#include <cstring>

extern "C" {

struct FieldValue {
  unsigned id, scope;
  long long timestamp_us, latency_us;
  int type, result;
  union {
    double real;
    unsigned whole;
  };
};

int nvmlInit_v2();
int nvmlShutdown();
const char* nvmlErrorString(int);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetClockInfo(void*, int, unsigned*);
int nvmlDeviceGetPowerUsage(void*, unsigned*);
int nvmlDeviceGetFieldValues(void*, int, FieldValue*);
int nvmlDeviceGetTemperature(void*, int, unsigned*);
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long*);

static int older, newer;  // GPUs

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
  if (std::strcmp(id, "0000:1b:00.0") == 0) *device = &newer;
  if (std::strcmp(id, "0000:1c:00.0") == 0) *device = &older;
  return *device ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1980 : which == 2 ? 2619 : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatt) {
  *milliwatt = 310000;
  return 0;
}
int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* fields) {
  for (int i = 0; i < count; ++i) {
    constexpr unsigned power_of_this_moment = 186;
    const bool known = fields[i].id == power_of_this_moment && device == &newer;
    fields[i].result = known ? 0 : 3;
    fields[i].type = 1;
    if (known) fields[i].whole = 482500;
  }
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
