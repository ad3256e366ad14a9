// Headers that most translation units using the dialect need, precompiled.
#pragma once

#include "cmake/Precompiled.h"
#include "dialects/dfg/Dfg.h"
