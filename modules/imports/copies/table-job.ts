import type { UserActor } from '../../../src/core/actor.ts'
import type { JobKind } from '../../../src/jobs.ts'
import type { SchemaService } from '../../schema/index.ts'

/** The job's name for REST clients. */
export const TABLE_COPY_JOB = 'duplicate-model'

/** What the job is told. */
export interface TableCopyInput {
  owner: UserActor
  tableId: string
  newTableId: string
  title: string
  withData: boolean
  withViews: boolean
}

/** Copies a table within its base. It is one transaction: what is cut off has left nothing. */
export function createTableCopyJob(
  schema: Pick<SchemaService, 'duplicateTable' | 'hasTable'>,
): JobKind<TableCopyInput> {
  return {
    async run({ owner, ...copy }, { signal, report }) {
      const { id } = await schema.duplicateTable(owner, copy, {
        signal,
        progress: (done, total) => report({ done, total, unit: 'rows' }),
      })
      return { id }
    },
    recover: async ({ newTableId }) =>
      (await schema.hasTable(newTableId)) ? { result: { id: newTableId } } : null,
  }
}
