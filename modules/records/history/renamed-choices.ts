import type { Values } from '../../../src/core/changes.ts'
import { hasChoices } from '../../../src/core/fields/traits.ts'
import type { LoggedRecord } from '../../../src/db/change-log.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { choiceRenamer, definitionsAt } from '../../schema/index.ts'
import type { LinkSchema } from '../links/index.ts'

/** Converts the logged values of a record, as JSON. */
export type RenameChoices = (json: string | null) => string | null

/**
 * Gives logged values of a table with the options of select fields as they are called now: a renamed option is the same one, and
 * its values have not been changed since. Null if none was renamed. Scans the log, so not within the write lease.
 *
 * @param changeId the entry that lists the values
 * @throws TABLE_NOT_FOUND
 */
export async function choiceRenames(
  engine: Engine,
  schema: LinkSchema,
  changeId: number,
  tableId: string,
): Promise<RenameChoices | null> {
  const { fields } = await schema.loadWithKeys(tableId)
  const selects = new Map(fields.filter(hasChoices).map((field) => [field.id, field]))
  if (selects.size === 0) return null
  const renames = [...(await definitionsAt(engine, changeId))].flatMap(([id, then]) => {
    const now = selects.get(id)
    const rename = now && choiceRenamer(then, now)
    return rename ? [{ id, rename }] : []
  })
  if (renames.length === 0) return null
  return (json) => {
    if (json === null) return null
    const values: Values = JSON.parse(json)
    for (const { id, rename } of renames) if (id in values) values[id] = rename(values[id] ?? null)
    return JSON.stringify(values)
  }
}

/** @param rename as `choiceRenames` has given it */
export const withRenamedChoices = (line: LoggedRecord, rename: RenameChoices | null): LoggedRecord =>
  rename ? { ...line, before: rename(line.before), after: rename(line.after) } : line
