import type { RecordId, RecordPage } from '../../../../../src/core/model.ts'
import type { GridRow } from '../../../../grid/source.ts'
import type { PagingDeps } from '../../../records/store/paging.ts'

/** Records with values that the board does not show, in the order of the ids. */
export async function readRecords(
  { api, tableId }: Pick<PagingDeps, 'api' | 'tableId'>,
  ids: readonly RecordId[],
  fieldIds: readonly string[],
  signal = new AbortController().signal,
): Promise<GridRow[]> {
  const page = { tableId, recordIds: [...ids], sorts: [], limit: ids.length, offset: 0 }
  return rowsOf(await api.list({ ...page, fieldIds: [...fieldIds] }, signal), ids)
}

/** The rows of an answer in the order of the ids; those that are gone are left out. */
function rowsOf(page: RecordPage, ids: readonly RecordId[]): GridRow[] {
  const values = new Map(page.ids.map((id, at) => [id, page.rows[at] ?? []]))
  return ids.flatMap((id) => {
    const row = values.get(id)
    return row ? [{ id, values: (fieldId: string) => row[page.fieldIds.indexOf(fieldId)] ?? null }] : []
  })
}
