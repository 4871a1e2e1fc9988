import { randomBytes } from 'node:crypto'
import { badRequest } from '../../src/core/errors.ts'
import { isComputed } from '../../src/core/fields/field.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { checkFilter, fieldsOf } from '../../src/core/filters/index.ts'
import { type Hook, type HookSettings, isRecordEvent } from '../../src/core/hooks.ts'
import type { Field } from '../../src/core/model.ts'
import { isProblem, parseTemplate } from '../../src/core/templates/template.ts'
import { m } from '../../src/messages.gen.ts'
import { seal, unseal } from '../../src/secrets.ts'
import type { TableModel } from '../schema/index.ts'
import { type Channel, findChannel } from './channels/index.ts'
import type { HookRow } from './store.ts'

/** The part of a row that users set. */
type StoredSettings = Pick<
  HookRow,
  | 'title'
  | 'description'
  | 'event'
  | 'operations'
  | 'isActive'
  | 'deliverPer'
  | 'isConditional'
  | 'filter'
  | 'triggerFieldIds'
  | 'channel'
  | 'payload'
>

/**
 * Checks settings and seals what may be secret.
 *
 * @param before the stored settings: what they refer to may be in the trash
 * @throws BAD_REQUEST for an unknown channel, settings that it refuses, or a template that does not parse, naming field
 *   and position; FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
export function checkSettings(
  model: TableModel,
  settings: HookSettings,
  key: Uint8Array,
  before?: HookRow,
): StoredSettings {
  const { event, channel } = settings
  const title = settings.title.trim()
  if (title === '') throw badRequest(m.hooks_error_title())
  const operations = event === 'manual' ? [] : [...new Set(settings.operations)]
  checkCondition(model, settings, before)
  return {
    title,
    description: settings.description,
    event,
    operations,
    isActive: settings.isActive,
    deliverPer: settings.deliverPer,
    isConditional: settings.isConditional,
    filter: settings.filter,
    triggerFieldIds: [...new Set(settings.triggerFieldIds)],
    channel: channel.type,
    payload: seal(key, JSON.stringify(checkChannel(channel).payload)),
  }
}

/** @throws as `checkSettings` */
export function checkChannel({ type, payload }: HookSettings['channel']): {
  channel: Channel
  payload: object
} {
  const channel = findChannel(type)
  if (!channel) throw badRequest(m.hooks_error_channel({ type: type.slice(0, 64) }))
  const parsed = channel.payload.safeParse(payload)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw badRequest(
      m.hooks_error_payload({ field: issue?.path.join('.') ?? '', problem: issue?.message ?? '' }),
    )
  }
  for (const { path, text, kind } of channel.templates(parsed.data)) {
    const template = parseTemplate(text, kind)
    if (!isProblem(template)) continue
    const { position, message } = template
    throw badRequest(m.hooks_error_template({ field: path, position, problem: message }))
  }
  channel.check?.(parsed.data)
  return { channel, payload: parsed.data }
}

function checkCondition(model: TableModel, settings: HookSettings, before?: HookRow): void {
  const { filter, triggerFieldIds } = settings
  const isNew = !before || !Bun.deepEquals(filter, before.filter)
  const problem = isNew && filter && checkFilter(filter, (fieldId) => model.field(fieldId))[0]
  if (problem) throw problem
  for (const id of triggerFieldIds) {
    const field = model.field(id)
    if (field && !isWatchable(field)) throw badRequest(m.hooks_error_computed_field({ field: field.title }))
    if (field || before?.triggerFieldIds.includes(id)) continue
    throw badRequest(m.hooks_error_no_field({ field: id.slice(0, 64) }))
  }
}

/** True for fields whose changes the log lists: those with values of their own, and links. */
export const isWatchable = (field: Field): boolean =>
  !isComputed(field) || fieldType(field.type).computed === 'link'

/** Why a webhook with these settings cannot go on after a change of its table; null if it can. */
export function brokenBy(
  model: TableModel,
  { event, isConditional, filter, triggerFieldIds }: HookRow,
): { reason: 'condition' | 'fields'; detail: string | null } | null {
  if (!isRecordEvent(event)) return null
  const problem =
    isConditional && filter ? checkFilter(filter, (fieldId) => model.field(fieldId))[0] : undefined
  if (problem) {
    const isGone = fieldsOf(filter).some((id) => !model.field(id))
    return { reason: 'condition', detail: isGone ? null : problem.message }
  }
  const isUnwatched = triggerFieldIds.length > 0 && !triggerFieldIds.some((id) => model.field(id))
  return isUnwatched ? { reason: 'fields', detail: null } : null
}

/** A stored webhook; its channel has no settings if they were sealed with another key. */
export function present(row: HookRow, key: Uint8Array): Hook {
  const text = unseal(key, row.payload)
  return {
    id: row.id,
    baseId: row.baseId,
    tableId: row.tableId,
    title: row.title,
    description: row.description,
    event: row.event,
    operations: row.operations,
    isActive: row.isActive,
    deliverPer: row.deliverPer,
    isConditional: row.isConditional,
    filter: row.filter,
    triggerFieldIds: row.triggerFieldIds,
    channel: { type: row.channel, payload: text === null ? {} : JSON.parse(text) },
    order: row.order,
    pause: row.pause,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** A new key for signatures, in the form of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`
