// Binds the timer that interrupts a program, in the main thread alone.
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <ctime>
#include <system_error>
#include <utility>

#include "bindings/bindings.h"

namespace ordeal::bindings {
namespace {

constexpr double kNanoseconds = 1e9;

// What a timer has left, and how often it rings then, in seconds; zeros where it does not run.
using Rings = std::pair<double, double>;

#if defined(_POSIX_TIMERS) && _POSIX_TIMERS > 0 && defined(SIGRTMAX)
// Alarms of ordeal ring in a signal and a timer of their own, so that SIGALRM and its timer are the program's. The two
// last signals have names in Python.
int alarm_signal() { return SIGRTMAX - 2; }

bool has_timer = false;  // a forked process does not inherit it
timer_t timer{};

void need_timer() {
  if (has_timer) {
    return;
  }
  static const int kForgets = pthread_atfork(nullptr, nullptr, [] { has_timer = false; });
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = alarm_signal();
  if (kForgets != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
    throw std::system_error(errno, std::generic_category(), "no timer");
  }
  has_timer = true;
}

timespec as_time(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<long>((seconds - whole) * kNanoseconds)};
}

Rings as_rings(const itimerspec& found) {
  const auto seconds = [](const timespec& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / kNanoseconds;
  };
  return {seconds(found.it_value), seconds(found.it_interval)};
}

Rings ring_in(double seconds, double interval) {
  need_timer();
  const itimerspec wanted{as_time(interval), as_time(seconds)};
  itimerspec found{};
  if (timer_settime(timer, 0, &wanted, &found) != 0) {
    throw std::system_error(errno, std::generic_category(), "a timer cannot be set");
  }
  return as_rings(found);
}

Rings rings_in() {
  itimerspec found{};
  if (has_timer) {
    timer_gettime(timer, &found);
  }
  return as_rings(found);
}

// Ends the alarm that the program has set. One that has rung reaches its handler now, which may raise.
void end_alarms() {
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
  if (PyErr_CheckSignals() != 0) {
    throw py::error_already_set();
  }
}
#else
// Without timers of POSIX, alarms of ordeal and of the program share one.
int alarm_signal() { return SIGALRM; }

timeval as_time(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<suseconds_t>((seconds - whole) * 1e6)};
}

Rings as_rings(const itimerval& found) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(found.it_value), seconds(found.it_interval)};
}

Rings ring_in(double seconds, double interval) {
  const itimerval wanted{as_time(interval), as_time(seconds)};
  itimerval found{};
  setitimer(ITIMER_REAL, &wanted, &found);
  return as_rings(found);
}

Rings rings_in() {
  itimerval found{};
  getitimer(ITIMER_REAL, &found);
  return as_rings(found);
}

void end_alarms() {}
#endif

}  // namespace

void bind_alarm(py::module_& m) {
  // Both return what the timer had left, and its interval.
  m.def("ring_in", &ring_in, py::arg("seconds"), py::arg("interval"));
  m.def("rings_in", &rings_in);
  m.def("end_alarms", &end_alarms);
  m.attr("ALARM_SIGNAL") = alarm_signal();
}

}  // namespace ordeal::bindings
