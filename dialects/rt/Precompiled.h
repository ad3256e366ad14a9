// Headers that most translation units of the host stage need, precompiled.
#pragma once

#include "dialects/dfg/Precompiled.h"
#include "dialects/rt/Rt.h"
