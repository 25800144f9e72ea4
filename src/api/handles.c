/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with the handles of Fortran, which other languages can pass without knowing mpi.h. */
#include <pawl.h>

#ifdef MPI_ABI_VERSION /* MPI 5.0 */
#define COMM_OF(comm) PMPI_Comm_fromint(comm)
#define INFO_OF(info) PMPI_Info_fromint(info)
#define REQUEST_TO(request) PMPI_Request_toint(request)
#else
#define COMM_OF(comm) PMPI_Comm_f2c(comm)
#define INFO_OF(info) PMPI_Info_f2c(info)
#define REQUEST_TO(request) PMPI_Request_c2f(request)
#endif

static MPI_Info info_of(const pawl_fint *info)
{
	return info ? INFO_OF(*info) : MPI_INFO_NULL;
}

int pawl_table_create_f(pawl_fint comm, const char *kind, uint64_t n, const pawl_fint *info,
			pawl_table **table)
{
	return pawl_table_create(COMM_OF(comm), kind, n, info_of(info), table);
}

int pawl_table_create_homed_f(pawl_fint comm, const char *kind, uint64_t n, pawl_home_fn *home,
			      void *arg, const pawl_fint *info, pawl_table **table)
{
	return pawl_table_create_homed(COMM_OF(comm), kind, n, home, arg, info_of(info), table);
}

int pawl_table_shrink_f(pawl_table **table, pawl_fint survivors)
{
	return pawl_table_shrink(table, COMM_OF(survivors));
}

int pawl_request_mpi_f(pawl_request *request, pawl_fint *mpi)
{
	MPI_Request handle = MPI_REQUEST_NULL;
	int rc = pawl_request_mpi(request, mpi ? &handle : NULL);

	if (rc == PAWL_SUCCESS)
		*mpi = REQUEST_TO(handle);
	return rc;
}
