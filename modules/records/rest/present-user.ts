import type { ShareActor } from '../../../src/core/actor.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { idsIn } from '../../../src/core/fields/people.ts'
import { holdsPeople, showsPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { asPublicPerson } from '../../auth/index.ts'
import type { Presenter } from './presenter.ts'

/** Someone as REST clients know them (wire reference §15). */
const presentPerson = ({ id, email, displayName }: Person) => ({
  id,
  email,
  display_name: displayName,
  meta: null,
})

/** Names people to whoever reads: to visitors of a link without their addresses. */
export const peopleFor =
  (people: NamePeople, { visitor }: { visitor?: ShareActor }): NamePeople =>
  async (ids) => {
    const found = await people(ids)
    return visitor ? found.map(asPublicPerson) : found
  }

type NamePeople = (ids: string[]) => Promise<Person[]>

/**
 * Puts people in the place of their ids: one object in fields that say who wrote, a list in all others, even
 * of one; null for nobody. Who has left is still named. Null where no field shows people.
 */
export function presentPeople(
  fields: Field[],
  people: (ids: string[]) => Promise<Person[]>,
): Presenter | null {
  // A lookup shows the people of other records; several come as a list already.
  const personal = fields.flatMap((field) => {
    const { type } = shownType(field)
    return showsPeople({ type: type.name })
      ? [{ title: field.title, isList: holdsPeople({ type: type.name }) }]
      : []
  })
  if (personal.length === 0) return null
  return async (rows) => {
    const idsOf = (value: unknown) =>
      (Array.isArray(value) ? value : [value]).flatMap((one) => idsIn((one ?? null) as CellValue))
    const ids = new Set(rows.flatMap((row) => personal.flatMap(({ title }) => idsOf(row[title]))))
    const byId = new Map((await people([...ids])).map((person) => [person.id, presentPerson(person)]))
    for (const row of rows) {
      for (const { title, isList } of personal) {
        const value = row[title] ?? null
        const found = idsOf(value).flatMap((id) => byId.get(id) ?? [])
        if (Array.isArray(value) || isList) row[title] = value === null || value === '' ? null : found
        else row[title] = found[0] ?? null
      }
    }
  }
}
