// What most translation units that use the dialect need, parsed once.
#pragma once

#include "cmake/Precompiled.h"
#include "dialects/dfg/Dfg.h"
