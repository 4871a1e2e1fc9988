import * as z from 'zod/mini'

// The parts of NocoDB's REST API (v2) that imports read. Unknown keys are ignored.

const id = z.string().check(z.minLength(1), z.maxLength(100))
const text = z.nullish(z.string())
const flag = z.nullish(z.union([z.boolean(), z.number()]))
const object = z.nullish(z.record(z.string(), z.unknown()))

export const listOf = <T>(item: z.ZodMiniType<T>) => z.object({ list: z.array(item) })

export const nocoBase = z.object({ id, title: z.string() })
/** People of the instance; those who are not members of the base have no roles. */
export const nocoUsers = z.object({
  users: z.object({
    list: z.array(
      z.object({
        id,
        email: z.nullish(z.string()),
        display_name: z.nullish(z.string()),
        roles: z.nullish(z.string()),
      }),
    ),
  }),
})
export const nocoTableRef = z.object({ id, title: z.string(), type: text, mm: flag, description: text })

export const nocoColumn = z.object({
  id,
  title: z.string(),
  uidt: z.string().check(z.maxLength(100)),
  pk: flag,
  pv: flag,
  system: flag,
  description: text,
  meta: z.nullish(z.unknown()),
  colOptions: object,
})
export type NocoColumn = z.output<typeof nocoColumn>

export const nocoView = z.object({
  id,
  title: z.string(),
  type: z.number(),
  is_default: flag,
  order: z.nullish(z.number()),
  view: object,
})
export type NocoView = z.output<typeof nocoView>

export const nocoTable = z.object({
  id,
  title: z.string(),
  description: text,
  columns: z.array(nocoColumn).check(z.maxLength(2000)),
  views: z._default(z.array(nocoView), []),
})
export type NocoTable = z.output<typeof nocoTable>

export const nocoViewColumn = z.object({
  fk_column_id: text,
  show: flag,
  order: z.nullish(z.number()),
  width: z.nullish(z.union([z.string(), z.number()])),
  group_by: flag,
  group_by_order: z.nullish(z.number()),
  group_by_sort: text,
})
export const nocoSort = z.object({ fk_column_id: text, direction: text })
export const nocoFilter = z.object({
  id,
  fk_column_id: text,
  is_group: flag,
  logical_op: text,
  comparison_op: text,
  comparison_sub_op: text,
  value: z.nullish(z.union([z.string(), z.number(), z.boolean()])),
})
export type NocoFilter = z.output<typeof nocoFilter>

export const nocoRecords = z.object({
  list: z.array(z.record(z.string(), z.unknown())),
  pageInfo: z.nullish(z.object({ isLastPage: z.nullish(z.boolean()) })),
})
export const nocoComment = z.object({
  id,
  comment: z.string(),
  created_by_email: text,
  /** Of a comment that another Sheaf has imported: its author. */
  author_name: text,
  parent_comment_id: text,
  created_at: z.string(),
})
export const nocoCommentCounts = z.array(
  z.object({ row_id: z.union([z.string(), z.number()]), count: z.number() }),
)
export const nocoToken = z.object({ token: z.string().check(z.minLength(1)) })
