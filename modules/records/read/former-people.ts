import type { Actor } from '../../../src/core/actor.ts'
import { isComputed, shownType } from '../../../src/core/fields/field.ts'
import { showsPeople } from '../../../src/core/fields/traits.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { type AuthService, asPublicPerson } from '../../auth/index.ts'
import type { Reader } from './read.ts'

/**
 * People who stand in the records of a table, by id, members or not: who has left keeps their name there.
 * Of ids that stand nowhere in the table nothing is told, so that nobody can go through the accounts. Visitors
 * of a link are told of those in what they see, also of those who stand there by way of a lookup: nobody tells
 * them who the members are.
 */
export function createFormerPeople(reader: Pick<Reader, 'open' | 'page'>, auth: Pick<AuthService, 'people'>) {
  return async function formerPeople(actor: Actor, tableId: string, ids: string[]): Promise<Person[]> {
    const opened = await reader.open(actor, tableId)
    const isVisitor = opened.context.visitor !== undefined
    const fields = opened.model.fields.filter((field) =>
      isVisitor ? showsPeopleIn(field) : showsPeople(field) && !isComputed(field),
    )
    if (fields.length === 0) return []
    const found: string[] = []
    for (const id of new Set(ids)) {
      const filter: Filter = {
        join: 'or',
        children: fields.map((field) => ({ fieldId: field.id, operator: 'anyof', value: [id] })),
      }
      const page = await reader.page(opened, { tableId, filter, limit: 1, offset: 0 }, [])
      if (page.ids.length > 0) found.push(id)
    }
    const people = await auth.people(found)
    return isVisitor ? people.map(asPublicPerson) : people
  }
}

/** True for a field in which people are seen, be they its own or looked up. */
export const showsPeopleIn = (field: Field): boolean =>
  field.error === null && showsPeople({ type: shownType(field).type.name })
