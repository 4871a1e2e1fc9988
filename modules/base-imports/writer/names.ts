import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { personText } from '../roster.ts'
import type { SourceField, SourcePerson, SourceRecord } from '../source.ts'
import { NAMES } from '../store.ts'
import type { KnownTable, RunContext } from './context.ts'
import { type Lacking, matchPeople } from './lacking.ts'
import { isTitled } from './titles.ts'
import { createField } from './write-schema.ts'

/*
 * The names of people for whom there is no member here: in a text field beside the field of people, which is created when the first
 * of them is found.
 */

/** The names of these people, as their field has them. */
export const namesOf = (missing: readonly SourcePerson[]): CellValue =>
  missing.map(personText).join(', ') || null

/** Creates the fields with the names that the given records need, unless they were deleted here. */
export async function createNameFields(
  context: RunContext,
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  changed: readonly { record: SourceRecord }[],
  incomplete: readonly { lacking: Lacking }[],
): Promise<void> {
  const { roster, row } = context
  if (!row.choices.names) return
  for (const { source, id, state } of table.fields.values()) {
    const field = fields.get(id)
    const isPending = field && state.mode === 'stored' && fieldType(field.type).people
    if (!isPending || table.names.has(source.id)) continue
    const isNeeded =
      incomplete.some(({ lacking }) => source.id in lacking.people) ||
      changed.some(({ record }) => {
        const cell = record.cells[source.id]
        const people = typeof cell === 'object' && cell !== null && 'people' in cell ? cell.people : []
        return matchPeople(roster, people).missing.length > 0
      })
    if (isNeeded) await createNames(context, table, source)
  }
}

async function createNames(context: RunContext, table: KnownTable, source: SourceField): Promise<void> {
  const { services, actor, store, row } = context
  const names: SourceField = {
    id: source.id,
    title: m.base_imports_names_title({ field: source.title }),
    description: m.base_imports_names_description({ field: source.title }),
    plan: { as: 'stored', type: 'LongText', options: {} },
  }
  const { fields } = await services.schema.table(actor, table.id)
  // Created by a step that was interrupted.
  const interrupted = fields.find(
    ({ title, description }) => isTitled(title, names.title) && description === names.description,
  )
  const created =
    interrupted ??
    (await createField(context, table.source, names, table.id, { type: 'LongText', options: {} }))
  if (!created) {
    // Reported once.
    table.names.set(source.id, null)
    return
  }
  table.names.set(source.id, created.id)
  await context.save(
    store.storing(row.id, NAMES, [
      { sourceId: source.id, targetId: created.id, digest: null, pending: null, run: row.run },
    ]),
  )
}
