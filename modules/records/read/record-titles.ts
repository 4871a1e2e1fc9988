import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { cellText } from '../../../src/core/fields/cell-text.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { chunks, storedId } from '../table/index.ts'
import type { Opened } from './plan.ts'
import type { Reader } from './read.ts'

/** A record that other data refers to by the text of its id. */
interface RecordReference {
  tableId: string
  recordId: string
}

interface RecordTitle {
  /** The text of the display field. */
  recordTitle: string
  tableTitle: string
}

/** The key of a reference in the result of `titlesOf`. */
export const referenceKey = ({ tableId, recordId }: RecordReference): string => `${tableId} ${recordId}`

/**
 * The display fields of records as tables show them to people in the time zone of `opened`, by the text of the id.
 * Records that do not exist are absent.
 */
export async function recordNames(
  reader: Pick<Reader, 'page'>,
  opened: Opened,
  recordIds: readonly RecordId[],
): Promise<Map<string, string>> {
  const { displayField, table } = opened.model
  const { people = [], timeZone = 'UTC' } = opened.context.moment
  const names = new Map<string, string>()
  for (const some of chunks([...new Set(recordIds)])) {
    const query = { tableId: table.id, recordIds: some, limit: some.length, offset: 0 }
    const { ids, rows } = await reader.page(opened, query, [displayField])
    ids.forEach((id, at) => {
      names.set(String(id), cellText(displayField, rows[at]?.[0] ?? null, { people, timeZone }))
    })
  }
  return names
}

/** Names records that other data refers to. */
export function createRecordTitles(
  reader: Pick<Reader, 'open' | 'page'>,
  schema: Pick<SchemaReader, 'load'>,
) {
  /**
   * The titles of those records that exist, by `referenceKey`; one read per table. Records of a connected database that
   * is away have empty titles.
   *
   * @param timeZone of whoever reads the titles; by default UTC
   * @throws as `open`, if the actor may not read one of the tables
   */
  return async function titlesOf(
    actor: Actor,
    references: readonly RecordReference[],
    timeZone?: string,
  ): Promise<Map<string, RecordTitle>> {
    const titles = new Map<string, RecordTitle>()
    for (const [tableId, ofTable] of Map.groupBy(references, (one) => one.tableId)) {
      // Tables in the trash have no model.
      const model = await schema.load(tableId).catch(onlyMissing)
      if (!model) continue
      const opened = await reader.open(actor, tableId, undefined, timeZone)
      const ids = ofTable.map(({ recordId }) => storedId(model, recordId))
      const names = await recordNames(reader, opened, ids).catch(onlyUnreachable)
      for (const { recordId } of ofTable) {
        const recordTitle = names ? names.get(String(storedId(model, recordId))) : ''
        if (recordTitle === undefined) continue
        titles.set(referenceKey({ tableId, recordId }), { recordTitle, tableTitle: model.table.title })
      }
    }
    return titles
  }
}

function onlyMissing(error: unknown): null {
  if (error instanceof AppError && error.status === 404) return null
  throw error
}

function onlyUnreachable(error: unknown): null {
  if (error instanceof AppError && error.code === 'DATABASE_UNREACHABLE') return null
  throw error
}
