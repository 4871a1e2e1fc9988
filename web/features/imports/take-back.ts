import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import { api, cache } from '../../trpc.ts'
import type { ImportRun } from './runs.ts'

/**
 * Undoes an import, whatever was done after it: a new table goes to the trash, added records are deleted.
 * @throws what the server refused with
 */
export async function takeBack(
  { baseId }: ImportRun,
  { isNewTable, tableId, changeId }: ImportResult,
): Promise<void> {
  if (isNewTable) await api.schema.deleteTable.mutate({ tableId })
  else if (changeId !== null) await api.records.undo.mutate({ baseId, entryId: changeId })
  void cache.schema.tables.invalidate({ baseId })
}

/** False for an import that added nothing. */
export const mayTakeBack = ({ isNewTable, changeId }: ImportResult): boolean =>
  isNewTable || changeId !== null
