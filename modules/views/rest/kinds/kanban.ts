import { z } from 'zod'
import { badRequest } from '../../../../src/core/errors.ts'
import type { Choice } from '../../../../src/core/fields/choices.ts'
import { hasSingleChoice } from '../../../../src/core/fields/traits.ts'
import type { Field } from '../../../../src/core/model.ts'
import { type KanbanOptions, type KanbanStack, kanbanStack } from '../../../../src/core/views/index.ts'
import { wireFlag } from '../../../../src/wire/body-values.ts'
import { readBody } from '../../../../src/wire/rest-base.ts'
import {
  COVER_META,
  coverFit,
  kindChange,
  type MetaKeys,
  present,
  takeMeta,
  type WireKind,
  wireCoverFit,
  wireFieldId,
  wireMeta,
} from './wire-kind.ts'

const KanbanBody = z.object({
  fk_grp_col_id: wireFieldId.optional(),
  fk_cover_image_col_id: wireFieldId.optional(),
  meta: wireMeta.nullish(),
})

/** The stacks in `meta["<fk_grp_col_id>"]`, each with the id of its option. */
const WireStacks = z
  .array(
    z.object({
      id: z.string().max(1000),
      order: z.number().nullish(),
      collapsed: wireFlag.nullish(),
      hidden: wireFlag.nullish(),
    }),
  )
  .max(1000)

const UNCATEGORIZED = 'uncategorized'
const UNCATEGORIZED_COLOR = '#6A7184'
const META: MetaKeys = { ...COVER_META, hide_empty_stack: 'hideEmpty' }

/** Obsolete keys that REST clients still expect. */
const OBSOLETE = { show: null, order: null, public: null, password: null, show_all_fields: null }

export const kanban: WireKind = {
  kind: 'kanban',
  path: 'kanbans',
  present({ model, options: stored, row }) {
    const options = stored as KanbanOptions
    const field = options.stackFieldId === null ? undefined : model.field(options.stackFieldId)
    return {
      fk_grp_col_id: options.stackFieldId,
      fk_cover_image_col_id: options.coverFieldId,
      ...OBSOLETE,
      title: row.title,
      meta: {
        ...row.meta,
        fk_cover_image_object_fit: wireCoverFit(options.coverFit),
        ...(options.hideEmpty && { hide_empty_stack: true }),
        ...(field && { [field.id]: presentStacks(field, options.stacks) }),
      },
    }
  },
  read(body, { model, options: stored }) {
    const before = stored as KanbanOptions
    const read = readBody(KanbanBody, body)
    const stackFieldId = read.fk_grp_col_id === undefined ? before.stackFieldId : read.fk_grp_col_id
    const { options, rest } = takeMeta(read.meta, META)
    if (options.coverFit !== undefined) options.coverFit = readBody(coverFit, options.coverFit)
    // The stacks belong to the old field.
    if (stackFieldId !== before.stackFieldId) options.stacks = []
    const field = stackFieldId === null ? undefined : model.field(stackFieldId)
    if (field && rest[field.id] != null) {
      const stacks = stackFieldId === before.stackFieldId ? before.stacks : []
      options.stacks = readStacks(field, rest[field.id], stacks)
    }
    if (field) delete rest[field.id]
    return kindChange(
      {
        ...options,
        ...present({ stackFieldId: read.fk_grp_col_id, coverFieldId: read.fk_cover_image_col_id }),
      },
      read.meta == null ? undefined : rest,
    )
  },
}

const choicesOf = (field: Field): Choice[] =>
  hasSingleChoice(field) && Array.isArray(field.options.choices) ? (field.options.choices as Choice[]) : []

/** All stacks: those stored with the view, then the other options of the select field in their order. */
function presentStacks(field: Field, stored: KanbanStack[]): Record<string, unknown>[] {
  const choices = new Map(choicesOf(field).map((choice) => [choice.title, choice]))
  const isSelect = hasSingleChoice(field)
  const live = stored.filter(({ key }) => !isSelect || key === null || choices.has(key))
  const known = new Set(live.map(({ key }) => key))
  const others = isSelect ? [null, ...choices.keys()].filter((key) => !known.has(key)) : []
  const all = [...live, ...others.map((key) => kanbanStack.parse({ key }))]
  return all.map(({ key, isCollapsed, isHidden }, order) => {
    const state = { collapsed: isCollapsed, ...(isHidden && { hidden: true }) }
    if (key === null) {
      return { id: UNCATEGORIZED, title: null, order, color: UNCATEGORIZED_COLOR, ...state }
    }
    const { id = key, color = UNCATEGORIZED_COLOR } = choices.get(key) ?? {}
    return { id, title: key, color, order, fk_column_id: field.id, ...state }
  })
}

/** @throws INVALID_REQUEST_BODY; BAD_REQUEST for an option that the field does not have */
function readStacks(field: Field, sent: unknown, before: KanbanStack[]): KanbanStack[] {
  const stacks = readBody(WireStacks, sent)
  const titles = new Map(choicesOf(field).map((choice) => [choice.id, choice.title]))
  const ordered = stacks
    .map((stack, index) => ({ ...stack, order: stack.order ?? index }))
    .sort((a, b) => a.order - b.order)
  return ordered.map(({ id, collapsed, hidden }) => {
    const key = id === UNCATEGORIZED ? null : hasSingleChoice(field) ? titles.get(id) : id
    if (key === undefined) throw badRequest(`Field "${field.title}" has no option '${id.slice(0, 64)}'`)
    const known = before.find((stack) => stack.key === key)
    return {
      key,
      isCollapsed: collapsed ?? known?.isCollapsed ?? false,
      isHidden: hidden ?? known?.isHidden ?? false,
    }
  })
}
