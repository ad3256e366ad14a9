// tfc.h and Model.h are C11 without warnings, and their layout is what emission/ writes.
#include "runtime/Model.h"

_Static_assert(sizeof(tfc_call_frame) == 72, "eight pointers and two numbers");
_Static_assert(sizeof(tfc_entry_info) == 120, "");
_Static_assert(sizeof(tfc_variable_info) == 56, "");
_Static_assert(sizeof(tfc_value_info) == 32, "");
_Static_assert(sizeof(tfc_symbol_info) == 64, "");
_Static_assert(sizeof(tfc_model) == 160, "");
_Static_assert(sizeof(tfc_queue_info) == 48, "");
_Static_assert(sizeof(tfc_dataset_info) == 48, "");
_Static_assert(sizeof(tfc_partition_info) == 32, "");
_Static_assert(sizeof(tfc_partitioning) == 32, "");
_Static_assert(sizeof(tfc_device_info) == 32, "");
_Static_assert(sizeof(tfc_library) == 16, "");

/// Called by the C++ tests: the first steps of a C program.
int createFromC(const tfc_model *model);

int createFromC(const tfc_model *model) {
  tfc_library library = {&tfc_runtime_api, model};
  tfc_options options = {.size = sizeof options, .threads = 1};
  tfc_instance *instance;
  if (library.api->create(library.model, &options, &instance) != TFC_OK)
    return 0;
  int64_t steps = -1;
  tfc_status status =
      library.api->get(instance, "steps", &(tfc_tensor){.dtype = TFC_I64, .data = &steps});
  library.api->destroy(instance);
  return status == TFC_OK && steps == 0;
}
