import { sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { showsPeople } from '../../src/core/fields/people-value.ts'
import type { Person } from '../../src/core/model.ts'
import type { AuthService } from '../auth/index.ts'
import { columnOf } from './columns.ts'
import type { Reader } from './read.ts'

/**
 * People who stand in the records of a table, by id, members or not: who has left keeps their name there.
 * Of ids that stand nowhere in the table nothing is told, so that nobody can go through the accounts.
 */
export function createFormerPeople(
  reader: Pick<Reader, 'open'>,
  auth: Pick<AuthService, 'people' | 'access'>,
) {
  return async function formerPeople(actor: Actor, tableId: string, ids: string[]): Promise<Person[]> {
    const { engine, model } = await reader.open(actor, tableId)
    await auth.access.authorize(actor, 'record.list', model.table.baseId)
    const fields = model.fields.filter((field) => showsPeople(field) && !fieldType(field.type).computed)
    if (fields.length === 0) return []
    const { dialect } = engine
    const found: string[] = []
    for (const id of new Set(ids)) {
      const stands = dialect.or(fields.map((field) => dialect.hasOption(columnOf(field), id)))
      const query = sql`select 1 from ${sql.identifier(model.table.tableName)} where ${stands} limit 1`
      const rows = await engine.values(dialect.render(query), { scan: true })
      if (rows.length > 0) found.push(id)
    }
    return auth.people(found)
  }
}
