/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation by the handles of Fortran, which other languages can pass without knowing mpi.h. */
#include <pawl.h>

static MPI_Info info_of(const MPI_Fint *info)
{
	return info ? PMPI_Info_f2c(*info) : MPI_INFO_NULL;
}

int pawl_table_create_f(MPI_Fint comm, const char *kind, uint64_t n, const MPI_Fint *info,
			pawl_table **table)
{
	return pawl_table_create(PMPI_Comm_f2c(comm), kind, n, info_of(info), table);
}

int pawl_table_create_homed_f(MPI_Fint comm, const char *kind, uint64_t n, pawl_home_fn *home,
			      void *arg, const MPI_Fint *info, pawl_table **table)
{
	return pawl_table_create_homed(PMPI_Comm_f2c(comm), kind, n, home, arg, info_of(info),
				       table);
}
