import * as z from 'zod/mini'

// The parts of Teable's REST API that imports read (https://help.teable.ai/en/api-doc/overview). Unknown keys are ignored.

const id = z.string().check(z.minLength(1), z.maxLength(100))
const title = z.string().check(z.maxLength(2000))
const flag = z.nullish(z.boolean())
const object = z.nullish(z.record(z.string(), z.unknown()))

export const teableBases = z.array(z.object({ id, name: title })).check(z.maxLength(10_000))
export const teableBase = z.object({ name: title })
export const teableTables = z
  .array(z.object({ id, name: title, description: z.nullish(z.string()) }))
  .check(z.maxLength(1000))

export const teableField = z.object({
  id,
  name: title,
  type: z.string().check(z.maxLength(100)),
  description: z.nullish(z.string()),
  options: object,
  lookupOptions: object,
  aiConfig: z.nullish(z.unknown()),
  cellValueType: z.nullish(z.string()),
  isLookup: flag,
  isConditionalLookup: flag,
  isPrimary: flag,
  isMultipleCellValue: flag,
  hasError: flag,
})
export type TeableField = z.output<typeof teableField>
export const teableFields = z.array(teableField).check(z.maxLength(2000))

export const teableView = z.object({
  id,
  name: title,
  type: z.string().check(z.maxLength(100)),
  options: object,
  filter: z.nullish(z.unknown()),
  sort: z.nullish(
    z.object({
      sortObjs: z.array(z.object({ fieldId: id, order: z.string() })),
      manualSort: flag,
    }),
  ),
  group: z.nullish(z.array(z.object({ fieldId: id, order: z.string() }))),
  columnMeta: z.nullish(
    z.record(
      z.string(),
      z.object({
        order: z.nullish(z.number()),
        width: z.nullish(z.number()),
        hidden: flag,
        visible: flag,
        required: flag,
      }),
    ),
  ),
})
export type TeableView = z.output<typeof teableView>
export const teableViews = z.array(teableView).check(z.maxLength(2000))

export const teableRecords = z.object({
  records: z.array(
    z.object({
      id,
      fields: z.record(z.string(), z.unknown()),
      createdTime: z.nullish(z.string()),
    }),
  ),
})
export type TeableRecord = z.output<typeof teableRecords>['records'][number]

export const teableCollaborators = z.object({
  collaborators: z.array(
    z.object({
      userId: z.nullish(z.string()),
      userName: z.nullish(z.string()),
      email: z.nullish(z.string()),
    }),
  ),
  total: z.nullish(z.number()),
})

export const teableCommentCounts = z.array(z.object({ recordId: id, count: z.number() }))

export const teableComments = z.object({
  comments: z.array(
    z.object({
      id,
      content: z.nullish(z.unknown()),
      /** An id, or an object with it. */
      createdBy: z.nullish(z.unknown()),
      createdTime: z.string(),
      /** The comment that it quotes, as replies do. */
      quoteId: z.nullish(z.string()),
      /** People, by id or as objects with it, by emoji. */
      reaction: z.nullish(z.array(z.object({ reaction: z.string(), user: z.array(z.unknown()) }))),
    }),
  ),
  nextCursor: z.nullish(z.string().check(z.maxLength(2000))),
})

/** A table with what further requests tell. */
export interface TeableTable {
  id: string
  name: string
  description?: string | null | undefined
  fields: TeableField[]
  views: TeableView[]
}
