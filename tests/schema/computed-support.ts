import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { Field } from '../../src/core/model.ts'
import {
  createField,
  createLink,
  createTable,
  fieldOf,
  freshTitle,
  readTable,
  type Workshop,
} from './support.ts'

export const optionsOf = (field: Field) => field.options as LinkOptions

/** Ways to make and to look at computed fields. */
export const computedTools = (shop: () => Workshop) => ({
  /** Orders with items (hm), items with their order (bt). */
  async world() {
    const order = (await createTable(shop(), undefined, freshTitle('Order'))).table
    const itemSchema = await createTable(
      shop(),
      [
        { type: 'SingleLineText', title: 'Name' },
        { type: 'Currency', title: 'Price', options: { code: 'EUR', locale: 'de-DE' } },
        { type: 'Number', title: 'Amount' },
        { type: 'Rating', title: 'Stars' },
        { type: 'Date', title: 'Due' },
        { type: 'Checkbox', title: 'Done' },
        { type: 'Email', title: 'Mail' },
      ],
      freshTitle('Item'),
    )
    const item = itemSchema.table
    const items = await createLink(shop(), order.id, item.id, { kind: 'hm', title: 'Items' })
    const parentId = optionsOf(items).inverseFieldId!
    const target = (title: string) => fieldOf(itemSchema, title).id
    return { order, item, items, parentId, target }
  },
  lookup: (tableId: string, relationFieldId: string, targetFieldId: string) =>
    createField(shop(), tableId, {
      type: 'Lookup',
      title: freshTitle('L'),
      options: { relationFieldId, targetFieldId },
    }),
  rollup: (tableId: string, options: FieldOptions) =>
    createField(shop(), tableId, { type: 'Rollup', title: freshTitle('R'), options }),
  count: (tableId: string, relationFieldId: string) =>
    createField(shop(), tableId, { type: 'Count', title: freshTitle('C'), options: { relationFieldId } }),
  /** What a field gives as things stand. */
  async now({ id, tableId }: Pick<Field, 'id' | 'tableId'>) {
    const field = (await readTable(shop(), tableId)).fields.find((each) => each.id === id)
    return { result: field?.result, error: field?.error }
  },
  update: (fieldId: string, patch: { options?: FieldOptions; type?: 'SingleLineText'; title?: string }) =>
    shop().api.schema.updateField.mutate({ fieldId, patch }),
  undo: () => shop().api.records.undo.mutate({ baseId: shop().baseId }),
  redo: () => shop().api.records.redo.mutate({ baseId: shop().baseId }),
})
