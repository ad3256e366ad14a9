// The identity of the class of errors that Message.h declares.
#include "tools/tfc/Message.h"

char tfc::LocatedError::ID;
