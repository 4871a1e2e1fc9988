import type { Diagram, DiagramField, DiagramLink, DiagramTable } from '../../../src/core/diagram.ts'

/** Display options of a diagram. */
export interface DiagramOptions {
  /** Fields shown in the boxes: all, keys and links, or none. */
  fields: 'all' | 'keys' | 'none'
  showTypes: boolean
  /** Show junction tables as boxes. */
  showJunctions: boolean
  /** Only this source; null: all. */
  sourceId: string | null
  /** Only this table and the tables linked with it; null: all. */
  tableId: string | null
  /** Ids of tables whose box lists all fields. */
  unfolded: readonly string[]
}

export const DEFAULT_OPTIONS: DiagramOptions = {
  fields: 'all',
  showTypes: true,
  showJunctions: false,
  sourceId: null,
  tableId: null,
  unfolded: [],
}

/** Fields that a box lists until it is unfolded: boxes with hundreds of rows are unreadable. */
export const MAX_ROWS = 24

/** A box; `fields` are those that it lists. */
export interface ShownTable extends DiagramTable {
  /** Fields hidden until the box is unfolded. */
  folded: DiagramField[]
  /** True if the box has a last row to unfold or fold it. */
  isFoldable: boolean
}

/** A line between two fields; between the heads of the boxes if the fields are not shown. */
export interface ShownLink {
  id: string
  from: { tableId: string; fieldId: string | null; isMany: boolean }
  to: { tableId: string; fieldId: string | null; isMany: boolean }
}

export interface ShownDiagram {
  tables: ShownTable[]
  links: ShownLink[]
}

/** The boxes and lines that the options select. */
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
  const linkedFieldIds = new Set(links.flatMap(({ from, to }) => [from.fieldId, to.fieldId]))
  return {
    tables: tables.map((table) => withRows(table, options, linkedFieldIds)),
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

/** The two lines of a link through its junction table, whose records belong to one record on either side. */
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

/** The box with the fields that it lists: keys and linked fields always, others in order up to `MAX_ROWS`. */
function withRows(
  table: DiagramTable,
  { fields, unfolded }: DiagramOptions,
  linkedFieldIds: ReadonlySet<string | null>,
): ShownTable {
  const isAlwaysListed = ({ id, isPrimaryKey, isForeignKey, isDisplay }: DiagramField): boolean =>
    isPrimaryKey || isForeignKey || isDisplay || linkedFieldIds.has(id)
  const complete = { folded: [], isFoldable: false }
  if (fields === 'none') return { ...table, ...complete, fields: [] }
  if (fields === 'keys') return { ...table, ...complete, fields: table.fields.filter(isAlwaysListed) }
  if (table.fields.length <= MAX_ROWS) return { ...table, ...complete }
  if (unfolded.includes(table.id)) return { ...table, ...complete, isFoldable: true }
  const always = table.fields.filter(isAlwaysListed)
  const others = table.fields.filter((field) => !isAlwaysListed(field))
  const listed = new Set([...always, ...others.slice(0, Math.max(0, MAX_ROWS - always.length))])
  return {
    ...table,
    fields: table.fields.filter((field) => listed.has(field)),
    folded: table.fields.filter((field) => !listed.has(field)),
    isFoldable: listed.size < table.fields.length,
  }
}
