import type { Diagram, DiagramLink } from '../../../src/core/diagram.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { TableModel } from '../model/index.ts'

/** The diagram of some tables, their fields and the links between them. */
export function diagramOf(models: readonly TableModel[]): Diagram {
  const ids = new Set(models.map(({ table }) => table.id))
  const inverseIds = new Set<string>()
  return {
    tables: models.map(({ table, fields }) => ({
      id: table.id,
      sourceId: table.sourceId,
      title: table.title,
      isJunction: table.isJunction,
      fields: fields
        .filter(({ isSystem }) => !isSystem)
        .map(({ id, title, type, isPrimaryKey, isDisplay }) => ({
          id,
          title,
          type: fieldType(type).label(),
          isPrimaryKey,
          isDisplay,
          isForeignKey: isForeignKey({ type }),
        })),
    })),
    links: models.flatMap((model) =>
      model.fields.flatMap((field) => {
        const link = linkFrom(model, field)
        // Each link appears once, and only between tables of the diagram.
        if (!link || inverseIds.has(field.id) || !ids.has(link.toTableId)) return []
        if (link.inverseFieldId) inverseIds.add(link.inverseFieldId)
        const isShown = link.junctionTableId === null || ids.has(link.junctionTableId)
        return [isShown ? link : { ...link, junctionTableId: null }]
      }),
    ),
  }
}

function linkFrom({ table }: TableModel, field: Field): DiagramLink | null {
  const link = linkOf(field)
  if (!link || field.isSystem) return null
  return {
    fieldId: field.id,
    inverseFieldId: link.inverseFieldId,
    fromTableId: table.id,
    toTableId: link.relatedTableId,
    fromMany: link.kind === 'mm' || link.kind === 'bt',
    toMany: !isSingleLink(link),
    junctionTableId: link.junction?.tableId ?? null,
  }
}
