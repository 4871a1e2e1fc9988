import { linkOf } from '../../../src/core/fields/link-options.ts'
import { pluralOf, singularOf } from '../../../src/core/nouns.ts'
import type { SchemaContext } from '../change/index.ts'
import { partsOfLink } from '../links/index.ts'
import type { StoredField, TableModel } from '../model/index.ts'

/**
 * What links consist of beside themselves. A copy of a link has parts of its own: a key column or a junction
 * table, and another reverse. So it leads to the same records as the original and takes none of them away,
 * whatever its kind: a child has a parent by each of the two.
 */
export interface LinkCopies {
  fields: StoredField[]
  junctions: TableModel[]
}

/** The parts of those of the fields that are links; those in the trash stay behind. */
export async function linkPartsOf(context: SchemaContext, fields: StoredField[]): Promise<LinkCopies> {
  const found = new Map<string, StoredField>()
  const junctions = new Set<string>()
  for (const field of fields) {
    const parts = await partsOfLink(context, field)
    for (const part of parts.fields) if (part.deletedAt === null) found.set(part.id, part)
    for (const part of parts.tables) if (part.deletedAt === null) junctions.add(part.id)
  }
  return {
    fields: [...found.values()],
    junctions: await Promise.all([...junctions].map((id) => context.store.load(id))),
  }
}

/** The words by which a reverse speaks of the records of a table. */
export function wordsFor(reverse: Pick<StoredField, 'type' | 'options'>, tableTitle: string) {
  const isSingle = ['bt', 'oo'].includes(linkOf(reverse)?.kind ?? '')
  const [singular, plural] = [singularOf(tableTitle), pluralOf(tableTitle)]
  return { title: isSingle ? singular : plural, options: { singular, plural } }
}
