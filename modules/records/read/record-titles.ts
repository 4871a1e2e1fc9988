import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { idOfKey, keyFieldsOf, storedId } from '../table/index.ts'
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

/** Names records that other data refers to. */
export function createRecordTitles(
  reader: Pick<Reader, 'open' | 'titledByIds'>,
  schema: Pick<SchemaReader, 'load'>,
) {
  /**
   * The titles of those records that exist, by `referenceKey`; one read per table. Records of a connected database that
   * is away have empty titles.
   *
   * @throws as `open`, if the actor may not read one of the tables
   */
  return async function titlesOf(
    actor: Actor,
    references: readonly RecordReference[],
  ): Promise<Map<string, RecordTitle>> {
    const titles = new Map<string, RecordTitle>()
    for (const [tableId, ofTable] of Map.groupBy(references, (one) => one.tableId)) {
      // Tables in the trash have no model.
      const model = await schema.load(tableId).catch(onlyMissing)
      if (!model) continue
      const opened = await reader.open(actor, tableId)
      const { displayField, table } = model
      const keys = keyFieldsOf(model)
      const ids = [...new Set(ofTable.map(({ recordId }) => storedId(model, recordId)))]
      const found = await reader.titledByIds(opened, ids, [...keys, displayField]).catch(onlyUnreachable)
      if (!found) {
        for (const one of ofTable) titles.set(referenceKey(one), { recordTitle: '', tableTitle: table.title })
        continue
      }
      for (const record of found) {
        const title = record[displayField.title]
        const recordId = String(idOfKey(keys.map(({ title: name }) => record[name])))
        titles.set(referenceKey({ tableId, recordId }), {
          recordTitle: title === null || title === undefined ? '' : String(title),
          tableTitle: table.title,
        })
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
