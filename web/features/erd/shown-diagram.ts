import type { Diagram, DiagramField, DiagramLink, DiagramTable } from '../../../src/core/diagram.ts'

/** Display options of a diagram. */
export interface DiagramOptions {
  /** Fields shown in the boxes: all, keys and links, or none. */
  fields: 'all' | 'keys' | 'none'
  showTypes: boolean
  /** Tables of pairs as boxes of their own. */
  showJunctions: boolean
  /** Only this source; null: all. */
  sourceId: string | null
  /** Only this table and those that it is linked with; null: all. */
  tableId: string | null
  /** Tables that list all of their fields, however many. */
  unfolded: readonly string[]
}

export const ALL: DiagramOptions = {
  fields: 'all',
  showTypes: true,
  showJunctions: false,
  sourceId: null,
  tableId: null,
  unfolded: [],
}

/** Most fields that a box lists by itself: among boxes of hundreds of rows nothing could be read. */
export const MAX_ROWS = 24

/** A box, with the fields that it lists. */
export interface ShownTable extends DiagramTable {
  /** Fields that it does not list until it is unfolded. */
  folded: DiagramField[]
  /** True for a box that has a last row to unfold it, or to fold it again. */
  isFoldable: boolean
}

/** A line between two fields, or between the heads of boxes where their fields are not shown. */
export interface ShownLink {
  id: string
  from: { tableId: string; fieldId: string | null; isMany: boolean }
  to: { tableId: string; fieldId: string | null; isMany: boolean }
}

export interface ShownDiagram {
  tables: ShownTable[]
  links: ShownLink[]
}

/** The boxes and lines that the options leave. */
export function shownDiagram(diagram: Diagram, options: DiagramOptions): ShownDiagram {
  const ofSource = diagram.tables.filter(
    ({ sourceId }) => options.sourceId === null || sourceId === options.sourceId,
  )
  const linked = options.tableId === null ? null : neighboursOf(options.tableId, diagram.links)
  const tables = ofSource
    .filter(({ isJunction }) => options.showJunctions || !isJunction)
    .filter(({ id }) => linked === null || linked.has(id))
  const ids = new Set(tables.map(({ id }) => id))
  const lines = diagram.links
    .filter(({ fromTableId, toTableId }) => ids.has(fromTableId) && ids.has(toTableId))
    .filter(
      ({ fromTableId, toTableId }) =>
        options.tableId === null || fromTableId === options.tableId || toTableId === options.tableId,
    )
  const links = lines.flatMap((link) =>
    options.showJunctions && link.junctionTableId !== null && ids.has(link.junctionTableId)
      ? throughJunction(link, link.junctionTableId)
      : [lineOf(link)],
  )
  const named = new Set(links.flatMap(({ from, to }) => [from.fieldId, to.fieldId]))
  return {
    tables: tables.map((table) => withRows(table, options, named)),
    links: options.fields === 'none' ? links.map(withoutFields) : links,
  }
}

function neighboursOf(tableId: string, links: readonly DiagramLink[]): Set<string> {
  const found = new Set([tableId])
  for (const { fromTableId, toTableId, junctionTableId } of links) {
    if (fromTableId !== tableId && toTableId !== tableId) continue
    for (const id of [fromTableId, toTableId, junctionTableId]) if (id !== null) found.add(id)
  }
  return found
}

const lineOf = ({
  fieldId,
  inverseFieldId,
  fromTableId,
  toTableId,
  fromMany,
  toMany,
}: DiagramLink): ShownLink => ({
  id: fieldId,
  from: { tableId: fromTableId, fieldId, isMany: fromMany },
  to: { tableId: toTableId, fieldId: inverseFieldId, isMany: toMany },
})

/** Each record of the table of pairs belongs to one record on either side. */
const throughJunction = (link: DiagramLink, junctionId: string): ShownLink[] => [
  {
    id: `${link.fieldId} from`,
    from: { tableId: link.fromTableId, fieldId: link.fieldId, isMany: false },
    to: { tableId: junctionId, fieldId: null, isMany: true },
  },
  {
    id: `${link.fieldId} to`,
    from: { tableId: junctionId, fieldId: null, isMany: true },
    to: { tableId: link.toTableId, fieldId: link.inverseFieldId, isMany: false },
  },
]

const withoutFields = ({ id, from, to }: ShownLink): ShownLink => ({
  id,
  from: { ...from, fieldId: null },
  to: { ...to, fieldId: null },
})

/** The box with the rows that it lists: keys and ends of lines in any case, and others as they stand. */
function withRows(
  table: DiagramTable,
  { fields, unfolded }: DiagramOptions,
  named: ReadonlySet<string | null>,
): ShownTable {
  const isMain = ({ id, isPrimaryKey, isForeignKey, isDisplay }: DiagramField): boolean =>
    isPrimaryKey || isForeignKey || isDisplay || named.has(id)
  const whole = { folded: [], isFoldable: false }
  if (fields === 'none') return { ...table, ...whole, fields: [] }
  if (fields === 'keys') return { ...table, ...whole, fields: table.fields.filter(isMain) }
  if (table.fields.length <= MAX_ROWS) return { ...table, ...whole }
  if (unfolded.includes(table.id)) return { ...table, ...whole, isFoldable: true }
  const main = table.fields.filter(isMain)
  const others = table.fields.filter((field) => !isMain(field))
  const listed = new Set([...main, ...others.slice(0, Math.max(0, MAX_ROWS - main.length))])
  return {
    ...table,
    fields: table.fields.filter((field) => listed.has(field)),
    folded: table.fields.filter((field) => !listed.has(field)),
    isFoldable: listed.size < table.fields.length,
  }
}
