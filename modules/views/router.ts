import { z } from 'zod'
import { filterSchema } from '../../src/core/filters/index.ts'
import { MAX_GROUPS, type ViewKind } from '../../src/core/model.ts'
import { HIDEABLE_ROLES } from '../../src/core/roles.ts'
import { formField, rowColoring, VIEW_KINDS } from '../../src/core/views/index.ts'
import { m } from '../../src/messages.gen.ts'
import { member, router } from '../../src/trpc.ts'
import { MAX_WIDTH, MIN_WIDTH } from './model/index.ts'
import type { ViewsService } from './service.ts'

const MAX_SORTS = 50
const MAX_ARRANGED = 1000

const id = z.string().min(1).max(64)
const title = z.string().max(1000)
const meta = z
  .record(z.string().max(64), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 100_000, { error: m.error_too_much_data() })

const sort = z.strictObject({ id: id.optional(), fieldId: id, direction: z.enum(['asc', 'desc']) })

const kind = z.enum(Object.keys(VIEW_KINDS) as [ViewKind, ...ViewKind[]])
/** Options of a kind; its own schema parses them once the view is loaded. */
const options = z
  .record(z.string().max(64), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 500_000, { error: m.error_too_much_data() })

const viewRef = z.strictObject({ viewId: id })
const baseRef = z.strictObject({ baseId: id })
const lock = z.enum(['collaborative', 'locked', 'personal'])
const description = z.string().max(10_000).nullable()

const createViewInput = z.strictObject({
  tableId: id,
  title,
  kind,
  options: options.optional(),
  copyOf: id.optional(),
  lock: lock.optional(),
  description: description.optional(),
  meta: meta.optional(),
})
const hideViewInput = z.strictObject({ viewId: id, from: z.array(z.enum(HIDEABLE_ROLES)).max(10) })
/** `before` null moves the view to the end. */
const reorderViewInput = z.strictObject({ viewId: id, before: id.nullable() })
const updateViewInput = z.strictObject({
  viewId: id,
  patch: z.strictObject({
    title: title.optional(),
    rowHeight: z.enum(['short', 'medium', 'tall', 'extra']).optional(),
    frozen: z.int().min(1).max(50).optional(),
    filter: z.nullish(filterSchema),
    sorts: z.array(sort).max(MAX_SORTS).optional(),
    meta: meta.optional(),
    description: description.optional(),
    lock: lock.optional(),
    ownerId: id.optional(),
    groups: z.array(sort).max(MAX_GROUPS).optional(),
    coloring: z.nullish(rowColoring),
    options: options.optional(),
  }),
})
const arrangeInput = z.strictObject({
  viewId: id,
  fields: z
    .array(
      z.strictObject({
        fieldId: id,
        show: z.boolean().optional(),
        order: z.number().optional(),
        width: z.int().min(MIN_WIDTH).max(MAX_WIDTH).optional(),
        summary: z.string().max(64).nullable().optional(),
        form: z.nullish(formField),
      }),
    )
    .min(1)
    .max(MAX_ARRANGED),
})

/** Changes of views for the web app, which reads them with their table (`schema.table`), and titles for its search. */
export const viewsRouter = (views: ViewsService) =>
  router({
    titles: member.input(baseRef).query(({ ctx, input }) => views.titlesOfBase(ctx.actor, input.baseId)),
    create: member
      .input(createViewInput)
      .mutation(({ ctx, input: { tableId, ...view } }) => views.create(ctx.actor, tableId, view)),
    duplicate: member.input(viewRef).mutation(({ ctx, input }) => views.duplicate(ctx.actor, input.viewId)),
    update: member.input(updateViewInput).mutation(({ ctx, input: { viewId, patch } }) => {
      const { ownerId: ownedBy, ...rest } = patch
      return views.update(ctx.actor, viewId, { ...rest, ...(ownedBy !== undefined && { ownedBy }) })
    }),
    arrange: member
      .input(arrangeInput)
      .mutation(({ ctx, input }) => views.arrange(ctx.actor, input.viewId, input.fields)),
    hide: member
      .input(hideViewInput)
      .mutation(({ ctx, input }) => views.hide(ctx.actor, input.viewId, input.from)),
    reorder: member
      .input(reorderViewInput)
      .mutation(({ ctx, input }) => views.reorder(ctx.actor, input.viewId, input.before)),
    delete: member.input(viewRef).mutation(({ ctx, input }) => views.delete(ctx.actor, input.viewId)),
  })
