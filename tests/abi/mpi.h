/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libpawl uses of the ABI of MPI 5.0, with the names, types and values of the standard
 * (chapter "Application Binary Interface"), for tests/abi.sh. There is no library behind it. As in
 * the standard's header, there is no MPI_Fint, and handles of Fortran are converted by
 * MPI_Comm_fromint().
 */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef struct {
	int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_Status;

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Win *MPI_Win;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Message *MPI_Message;

#define MPI_SUM ((MPI_Op)0x00000021)
#define MPI_MIN ((MPI_Op)0x00000022)
#define MPI_MAX ((MPI_Op)0x00000023)
#define MPI_BAND ((MPI_Op)0x00000028)
#define MPI_BOR ((MPI_Op)0x00000029)
#define MPI_BXOR ((MPI_Op)0x0000002a)
#define MPI_LAND ((MPI_Op)0x00000030)
#define MPI_LOR ((MPI_Op)0x00000031)
#define MPI_REPLACE ((MPI_Op)0x0000003c)
#define MPI_NO_OP ((MPI_Op)0x0000003d)
#define MPI_COMM_NULL ((MPI_Comm)0x00000100)
#define MPI_COMM_WORLD ((MPI_Comm)0x00000101)
#define MPI_COMM_SELF ((MPI_Comm)0x00000102)
#define MPI_OP_NULL ((MPI_Op)0x00000020)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x00000200)
#define MPI_GROUP_NULL ((MPI_Group)0x00000108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x00000109)
#define MPI_WIN_NULL ((MPI_Win)0x00000110)
#define MPI_INFO_NULL ((MPI_Info)0x00000130)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x00000141)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x00000142)
#define MPI_REQUEST_NULL ((MPI_Request)0x00000180)
#define MPI_AINT ((MPI_Datatype)0x00000201)
#define MPI_INT ((MPI_Datatype)0x00000209)
#define MPI_LONG ((MPI_Datatype)0x0000020a)
#define MPI_UNSIGNED ((MPI_Datatype)0x0000020d)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x0000020e)
#define MPI_DOUBLE ((MPI_Datatype)0x00000214)
#define MPI_CHAR ((MPI_Datatype)0x00000243)
#define MPI_BYTE ((MPI_Datatype)0x00000247)
#define MPI_UINT32_T ((MPI_Datatype)0x00000251)
#define MPI_INT64_T ((MPI_Datatype)0x00000258)
#define MPI_UINT64_T ((MPI_Datatype)0x00000259)

#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_PROCESSOR_NAME 256

enum {
	MPI_SUCCESS = 0,
	MPI_ERR_INTERN = 17,
	MPI_ANY_SOURCE = -1,
	MPI_ANY_TAG = -2,
	MPI_PROC_NULL = -3,
	MPI_UNDEFINED = -32766,
	MPI_KEYVAL_INVALID = 0,
	MPI_THREAD_SINGLE = 0,
	MPI_THREAD_FUNNELED = 1024,
	MPI_THREAD_SERIALIZED = 2048,
	MPI_THREAD_MULTIPLE = 4096,
	MPI_COMM_TYPE_SHARED = 221,
	MPI_LOCK_EXCLUSIVE = 301,
	MPI_LOCK_SHARED = 302,
	MPI_WIN_UNIFIED = 321,
	MPI_WIN_SEPARATE = 322,
	MPI_WIN_MODEL = 605,
	MPI_MODE_NOCHECK = 1024
};

typedef void(MPI_User_function)(void *, void *, int *, MPI_Datatype *);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm, int, void *, void *, void *, int *);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm, int, void *, void *);
typedef int(MPI_Grequest_query_function)(void *, MPI_Status *);
typedef int(MPI_Grequest_free_function)(void *);
typedef int(MPI_Grequest_cancel_function)(void *, int);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0x0)

/* Each with its name for tools, P. */
#define BOTH(result, name, ...)         \
	result MPI_##name(__VA_ARGS__); \
	result PMPI_##name(__VA_ARGS__);
/* clang-format off */
BOTH(int, Abort, MPI_Comm, int)
BOTH(int, Accumulate, const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype,
     MPI_Op, MPI_Win)
BOTH(int, Allgather, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm)
BOTH(int, Allgatherv, const void *, int, MPI_Datatype, void *, const int[], const int[],
     MPI_Datatype, MPI_Comm)
BOTH(int, Reduce, const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm)
BOTH(int, Op_create, MPI_User_function *, int, MPI_Op *)
BOTH(int, Op_free, MPI_Op *)
BOTH(int, Type_contiguous, int, MPI_Datatype, MPI_Datatype *)
BOTH(int, Type_commit, MPI_Datatype *)
BOTH(int, Type_free, MPI_Datatype *)
BOTH(int, Comm_get_attr, MPI_Comm, int, void *, int *)
BOTH(int, Comm_delete_attr, MPI_Comm, int)
BOTH(int, Allreduce, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
BOTH(int, Barrier, MPI_Comm)
BOTH(int, Bcast, void *, int, MPI_Datatype, int, MPI_Comm)
BOTH(int, Comm_create_keyval, MPI_Comm_copy_attr_function *,
     MPI_Comm_delete_attr_function *, int *, void *)
BOTH(int, Comm_dup, MPI_Comm, MPI_Comm *)
BOTH(int, Comm_free, MPI_Comm *)
BOTH(int, Comm_free_keyval, int *)
BOTH(MPI_Comm, Comm_fromint, int)
BOTH(int, Comm_get_parent, MPI_Comm *)
BOTH(int, Comm_group, MPI_Comm, MPI_Group *)
BOTH(int, Comm_rank, MPI_Comm, int *)
BOTH(int, Comm_set_attr, MPI_Comm, int, void *)
BOTH(int, Comm_set_errhandler, MPI_Comm, MPI_Errhandler)
BOTH(int, Comm_size, MPI_Comm, int *)
BOTH(int, Comm_split, MPI_Comm, int, int, MPI_Comm *)
BOTH(int, Comm_split_type, MPI_Comm, int, int, MPI_Info, MPI_Comm *)
BOTH(int, Comm_test_inter, MPI_Comm, int *)
BOTH(int, Compare_and_swap, const void *, const void *, void *, MPI_Datatype, int,
     MPI_Aint, MPI_Win)
BOTH(int, Error_string, int, char *, int *)
BOTH(int, Fetch_and_op, const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Op, MPI_Win)
BOTH(int, Finalize, void)
BOTH(int, Finalized, int *)
BOTH(int, Gather, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm)
BOTH(int, Get, void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win)
BOTH(int, Get_library_version, char *, int *)
BOTH(int, Get_processor_name, char *, int *)
BOTH(int, Grequest_complete, MPI_Request)
BOTH(int, Grequest_start, MPI_Grequest_query_function *, MPI_Grequest_free_function *,
     MPI_Grequest_cancel_function *, void *, MPI_Request *)
BOTH(int, Group_free, MPI_Group *)
BOTH(int, Group_translate_ranks, MPI_Group, int, const int[], MPI_Group, int[])
BOTH(int, Info_create, MPI_Info *)
BOTH(int, Info_free, MPI_Info *)
BOTH(MPI_Info, Info_fromint, int)
BOTH(int, Info_get, MPI_Info, const char *, int, char *, int *)
BOTH(int, Info_get_nkeys, MPI_Info, int *)
BOTH(int, Info_get_nthkey, MPI_Info, int, char *)
BOTH(int, Info_get_string, MPI_Info, const char *, int *, char *, int *)
BOTH(int, Info_get_valuelen, MPI_Info, const char *, int *, int *)
BOTH(int, Info_set, MPI_Info, const char *, const char *)
BOTH(int, Init, int *, char ***)
BOTH(int, Init_thread, int *, char ***, int, int *)
BOTH(int, Initialized, int *)
BOTH(int, Iallreduce, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *)
BOTH(int, Iprobe, int, int, MPI_Comm, int *, MPI_Status *)
BOTH(int, Put, const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win)
BOTH(int, Query_thread, int *)
BOTH(int, Recv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *)
BOTH(int, Request_free, MPI_Request *)
BOTH(int, Request_toint, MPI_Request)
BOTH(int, Rget, void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win, MPI_Request *)
BOTH(int, Scatter, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm)
BOTH(int, Send, const void *, int, MPI_Datatype, int, int, MPI_Comm)
BOTH(int, Sendrecv, const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype,
     int, int, MPI_Comm, MPI_Status *)
BOTH(int, Status_set_cancelled, MPI_Status *, int)
BOTH(int, Status_set_elements, MPI_Status *, MPI_Datatype, int)
BOTH(int, Test, MPI_Request *, int *, MPI_Status *)
BOTH(int, Wait, MPI_Request *, MPI_Status *)
BOTH(int, Win_allocate, MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *)
BOTH(int, Win_allocate_shared, MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *)
BOTH(int, Win_create, void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *)
BOTH(int, Win_flush, int, MPI_Win)
BOTH(int, Win_flush_all, MPI_Win)
BOTH(int, Win_flush_local, int, MPI_Win)
BOTH(int, Win_free, MPI_Win *)
BOTH(int, Win_get_attr, MPI_Win, int, void *, int *)
BOTH(int, Win_lock, int, int, int, MPI_Win)
BOTH(int, Win_lock_all, int, MPI_Win)
BOTH(int, Win_set_errhandler, MPI_Win, MPI_Errhandler)
BOTH(int, Win_shared_query, MPI_Win, int, MPI_Aint *, int *, void *)
BOTH(int, Win_sync, MPI_Win)
BOTH(int, Win_unlock, int, MPI_Win)
BOTH(int, Win_unlock_all, MPI_Win)
BOTH(double, Wtime, void)
/* clang-format on */
#undef BOTH

#ifdef __cplusplus
}
#endif
#endif
