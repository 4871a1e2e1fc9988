import { AppError } from '../../../src/core/errors.ts'
import { listImports } from '../../../src/db/change-log/entries.ts'
import { m } from '../../../src/messages.gen.ts'
import { isOutage } from '../../../src/storage-full.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import type { ImportInput } from '../job-input.ts'
import { type ImportColumn, ROW_COLUMN } from '../plan.ts'
import { createReport } from '../worker/report.ts'
import type { ConnectedDeps, ConnectedImport } from './connected-import.ts'
import { writeConnected } from './connected-writer.ts'
import { CONNECTED_COLUMNS } from './staged-rows.ts'
import type { ImportTarget, TargetRun } from './target.ts'

/** Type of a column that the import creates: whatever the field type becomes there. */
export const NEW_COLUMN = ''

const PLAIN = { required: false, defaultValue: null }

/**
 * Tables of connected databases. The thread leaves the rows in the staging table, in the base's home, and they are written
 * chunk by chunk through the write door: no transaction is long, and each row of the staging table knows what has become of it.
 */
export function createConnectedTarget({ kernel, schema, records }: ConnectedDeps): ImportTarget {
  async function open(input: ImportInput, run: TargetRun): ReturnType<ImportTarget['open']> {
    const { target } = input
    if (target.kind !== 'connected') throw new Error('Choose the table to import into')
    const { create } = target
    let isThere = create === undefined
    const verify = async () => {
      if (isThere) requireUnchanged(await schema.load(target.tableId), input.columns)
    }
    return {
      isFilledByThread: false,
      stagingColumns: [
        { name: ROW_COLUMN, storage: 'id', ...PLAIN },
        ...input.columns.map(({ column }) => ({ name: column, storage: 'longText' as const, ...PLAIN })),
        { name: CONNECTED_COLUMNS.state, storage: 'integer', ...PLAIN },
        { name: CONNECTED_COLUMNS.kept, storage: 'longText', ...PLAIN },
        { name: CONNECTED_COLUMNS.reason, storage: 'longText', ...PLAIN },
      ],
      plan: {
        constants: [],
        rowColumn: ROW_COLUMN,
        finish: { kind: 'keep', isUpdate: target.update !== undefined },
      },
      verify,
      async complete(outcome) {
        if (create && !(await schema.hasTable(target.tableId))) {
          run.signal.throwIfAborted()
          await schema.createConnectedTable(input.actor, create)
        }
        isThere = true
        const model = await schema.load(target.tableId)
        const report = createReport(run.reportPath, { count: outcome.problems, samples: outcome.samples })
        const work: ConnectedImport = {
          ...run,
          input,
          update: target.update,
          isNewTable: create !== undefined,
          model,
          engine: await schema.engineOf(model.table),
          report,
          verify,
        }
        try {
          const written = await writeConnected({ kernel, schema, records }, work)
          return {
            tableId: model.table.id,
            title: model.table.title,
            outcome: {
              ...outcome,
              ...written,
              rowsRefused: outcome.rowsRefused + written.rowsRefused,
              cellsRefused: outcome.cellsRefused + written.cellsRefused,
              problems: report.count,
              samples: report.samples,
            },
          }
        } finally {
          report.close()
        }
      },
      // What this run or an earlier one has written so far is known there only.
      keepsStaging: (error) => isOutage(error) && !run.signal.aborted,
    }
  }

  return {
    open,
    tableOf: ({ target }) => ({
      tableId: target.kind === 'new' ? target.prepared.tableId : target.tableId,
      title: target.kind === 'connected' ? (target.create?.prepared.title ?? '') : '',
      isNewTable: target.kind === 'connected' && target.create !== undefined,
    }),
    async findFinished({ baseId, target }, jobId, hasUpload) {
      if (hasUpload || target.kind === 'new') return null
      const entries = await listImports(await kernel.sources.engine(baseId), target.tableId)
      const own = entries.filter(({ detail }) => (detail as { jobId?: string } | null)?.jobId === jobId)
      return own.length === 0 ? null : own.reduce((sum, { records: count }) => sum + count, 0)
    },
  }
}

/** @throws CONFLICT if a field that is being filled was changed or deleted */
function requireUnchanged(model: TableModel, columns: readonly ImportColumn[]): void {
  for (const { fieldId, title, connected, type } of columns) {
    const field = model.field(fieldId)
    const isSame =
      connected && connected.databaseType !== NEW_COLUMN
        ? field?.databaseType === connected.databaseType && field.type === type
        : field
    if (!isSame) throw new AppError('CONFLICT', m.imports_error_field_changed({ field: title }))
  }
}

/**
 * Why a table of a connected database takes no import; null if it does.
 *
 * @throws DATABASE_UNREACHABLE
 */
export async function refusalOf(
  schema: Pick<SchemaService, 'engineOf' | 'writeRefusal'>,
  model: TableModel,
): Promise<string | null> {
  const refusal = await schema.writeRefusal(model)
  if (refusal !== null) return refusal
  const storage = await storageWithoutRollback(schema, model)
  return storage === null ? null : m.imports_error_no_rollback({ table: model.table.title, storage })
}

/**
 * The storage engine of a table that cannot roll back a failed write; null for other tables.
 *
 * @throws DATABASE_UNREACHABLE
 */
export async function storageWithoutRollback(
  schema: Pick<SchemaService, 'engineOf'>,
  { table }: TableModel,
): Promise<string | null> {
  const engine = await schema.engineOf(table)
  await engine.ready?.()
  const asked = engine.dialect.foreign.withoutRollback?.(table.tableName)
  const [found] = asked ? await engine.all<{ storage: string }>(asked) : []
  return found?.storage ?? null
}

/** @throws FORBIDDEN for a table of a connected database that takes no import */
export async function requireConnectedTable(
  schema: Pick<SchemaService, 'engineOf' | 'writeRefusal'>,
  model: TableModel,
): Promise<void> {
  const refusal = await refusalOf(schema, model)
  if (refusal !== null) throw new AppError('FORBIDDEN', refusal)
}
