//===- tfc_mpi.h - The processes of an MPI job as a cluster ---------------===//
//
// The process with rank i is task number i of the cluster that a model was
// compiled for. Link libtfcmpi and MPI:
//
//   mpicc app.c libmodel.so -ltfcmpi -o app && mpirun -n 4 ./app
//
//===----------------------------------------------------------------------===//

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef TFC_H
#error "include the header of a model, or tfc.h, first"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Opens a transport between the processes of MPI_COMM_WORLD, for one instance and its forks;
/// another instance needs another one. All processes must call it together. Initialises MPI if the
/// program has not; a program that has must have asked for MPI_THREAD_SERIALIZED, or for
/// MPI_THREAD_MULTIPLE if it calls MPI, or opens another transport, while one is open. Returns
/// TFC_FAILED_PRECONDITION without that, or TFC_INTERNAL for other errors of MPI; `*out` is null
/// then, and `tfc_mpi_message` says why.
tfc_status tfc_mpi_open(tfc_transport **out);

/// Closes a transport after its instances have been destroyed, and finalises MPI if
/// `tfc_mpi_open` has initialised it and no other transport is open. All processes must call it
/// together, on the thread that has opened the first one. Null is allowed.
void tfc_mpi_close(tfc_transport *transport);

/// Returns why the last `tfc_mpi_open` of the process failed, or "".
const char *tfc_mpi_message(void);

#ifdef __cplusplus
}
#endif
