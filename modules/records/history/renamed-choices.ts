import type { Values } from '../../../src/core/changes.ts'
import { hasChoices } from '../../../src/core/fields/traits.ts'
import type { LoggedRecord } from '../../../src/db/change-log.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { choiceRenamer, definitionsSince } from '../../schema/index.ts'
import type { LinkSchema } from '../links/index.ts'

/** Converts the logged values of a record, as JSON. */
export type RenameChoices = (json: string | null) => string | null

/**
 * Gives logged values of a table with the options of select fields as they are called now: a renamed option is the same one, and
 * its values have not been changed since. May scan the log, so not within the write lease.
 *
 * @param oldest the first entry whose values are asked for
 * @returns gives the conversion for the values of an entry; null if no option was renamed since
 * @throws TABLE_NOT_FOUND
 */
export async function choiceRenames(
  engine: Engine,
  schema: LinkSchema,
  oldest: number,
  tableId: string,
): Promise<(changeId: number) => RenameChoices | null> {
  const { fields } = await schema.loadWithKeys(tableId)
  const selects = new Map(fields.filter(hasChoices).map((field) => [field.id, field]))
  if (selects.size === 0) return () => null
  const definitionsAt = await definitionsSince(engine, tableId, oldest)
  return (changeId) => {
    const renames = [...definitionsAt(changeId)].flatMap(([id, then]) => {
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
}

/** @param rename as `choiceRenames` has given it */
export const withRenamedChoices = (line: LoggedRecord, rename: RenameChoices | null): LoggedRecord =>
  rename ? { ...line, before: rename(line.before), after: rename(line.after) } : line
