// Streams are in-order command queues; an event is the marker that was last put into a queue for it.
#include <mutex>

#include "runtime.h"

namespace paddle_opencl {
namespace {

struct Event {
  std::mutex mutex;
  cl_event marker = nullptr;  // null: never recorded, hence done

  cl_event take() {  // a reference of the caller's own
    std::lock_guard<std::mutex> lock(mutex);
    if (marker) clRetainEvent(marker);
    return marker;
  }
  void put(cl_event next) {
    std::lock_guard<std::mutex> lock(mutex);
    if (marker) clReleaseEvent(marker);
    marker = next;
  }
};

Event* event_of(PdEvent e) { return reinterpret_cast<Event*>(e); }

PdStatus synchronize(int32_t index) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  return d ? checked(clFinish(d->queue), "clFinish") : status;
}

PdStatus stream_create(int32_t index, PdStream* out) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueueWithProperties(d->context, d->id, nullptr, &error);
  *out = reinterpret_cast<PdStream>(queue);
  return checked(error, "clCreateCommandQueueWithProperties");
}

PdStatus stream_destroy(int32_t index, PdStream stream) {
  return stream ? checked(clReleaseCommandQueue(reinterpret_cast<cl_command_queue>(stream)), "clReleaseCommandQueue")
                : kOk;
}

PdStatus stream_synchronize(int32_t index, PdStream stream) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  return d ? checked(clFinish(queue_of(*d, stream)), "clFinish") : status;
}

PdStatus stream_wait_event(int32_t index, PdStream stream, PdEvent event) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  cl_event marker = event_of(event)->take();
  if (!marker) return kOk;
  status =
      checked(clEnqueueBarrierWithWaitList(queue_of(*d, stream), 1, &marker, nullptr), "clEnqueueBarrierWithWaitList");
  clReleaseEvent(marker);
  return status;
}

PdStatus event_create(int32_t index, PdEvent* out) {
  PdStatus status = kOk;
  if (!device_at(index, &status)) return status;
  *out = reinterpret_cast<PdEvent>(new Event);
  return kOk;
}

PdStatus event_destroy(int32_t, PdEvent event) {
  if (!event) return kOk;
  event_of(event)->put(nullptr);
  delete event_of(event);
  return kOk;
}

PdStatus event_record(int32_t index, PdStream stream, PdEvent event) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  cl_event marker = nullptr;
  cl_command_queue queue = queue_of(*d, stream);
  status = checked(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker), "clEnqueueMarkerWithWaitList");
  if (status.code != PD_OK) return status;
  event_of(event)->put(marker);
  return checked(clFlush(queue), "clFlush");  // whoever asks the event must not wait for a command never sent
}

PdStatus event_synchronize(int32_t index, PdEvent event) {
  PdStatus status = kOk;
  if (!device_at(index, &status)) return status;
  cl_event marker = event_of(event)->take();
  if (!marker) return kOk;
  status = checked(clWaitForEvents(1, &marker), "clWaitForEvents");
  clReleaseEvent(marker);
  return status;
}

PdStatus event_query(int32_t index, PdEvent event, int32_t* done) {
  PdStatus status = kOk;
  if (!device_at(index, &status)) return status;
  *done = 1;
  cl_event marker = event_of(event)->take();
  if (!marker) return kOk;
  cl_int state = CL_COMPLETE;
  status = checked(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
                   "clGetEventInfo");
  *done = state == CL_COMPLETE;
  clReleaseEvent(marker);
  return state < 0 ? checked(state, "a command") : status;
}

}  // namespace

void fill_streams(PdDevice* table) {
  table->synchronize = synchronize;
  table->stream_create = stream_create;
  table->stream_destroy = stream_destroy;
  table->stream_synchronize = stream_synchronize;
  table->stream_wait_event = stream_wait_event;
  table->event_create = event_create;
  table->event_destroy = event_destroy;
  table->event_record = event_record;
  table->event_synchronize = event_synchronize;
  table->event_query = event_query;
}

}  // namespace paddle_opencl
