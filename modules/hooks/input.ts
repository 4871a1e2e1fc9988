import { z } from 'zod'
import { filterSchema } from '../../src/core/filters/index.ts'
import {
  HOOK_EVENTS,
  HOOK_OPERATIONS,
  type HookSettings,
  isRecordEvent,
  MAX_TRIGGERED,
} from '../../src/core/hooks.ts'
import { plainObject, plainText, timeZone } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'

const id = z.string().min(1).max(64)
const MAX_PAYLOAD_LENGTH = 600_000

const settings = {
  title: plainText(255),
  description: plainText(10_000).nullable(),
  event: z.enum(HOOK_EVENTS),
  operations: z.array(z.enum(HOOK_OPERATIONS)).max(HOOK_OPERATIONS.length),
  isActive: z.boolean(),
  deliverPer: z.enum(['record', 'call']),
  isConditional: z.boolean(),
  filter: z.union([filterSchema, z.null()]),
  triggerFieldIds: z.array(id).max(500),
  channel: z.strictObject({ type: z.string().max(64), payload: plainObject(MAX_PAYLOAD_LENGTH) }),
}

export const TableRef = z.strictObject({ tableId: id })
export const BaseRef = z.strictObject({ baseId: id })
export const HookRef = z.strictObject({ hookId: id })

/** False for settings that would never call the webhook, which only clients of the reference may store. */
const isCalled = ({ event = 'after', operations }: Partial<HookSettings>): boolean =>
  !isRecordEvent(event) || operations === undefined || operations.length > 0
const uncalled = { error: () => m.hooks_error_operations() }

/** A new webhook; what is left out gets its default. */
export const NewHook = z
  .strictObject({
    tableId: id,
    ...settings,
    description: settings.description.default(null),
    isActive: settings.isActive.default(true),
    deliverPer: settings.deliverPer.default('call'),
    isConditional: settings.isConditional.default(false),
    filter: settings.filter.default(null),
    triggerFieldIds: settings.triggerFieldIds.default([]),
  })
  .refine(isCalled, uncalled)
export const HookUpdate = HookRef.extend({
  patch: z.strictObject(settings).partial().refine(isCalled, uncalled),
})
/** `skipMissed`: changes during a pause are not delivered. */
export const HookActivation = HookRef.extend({
  isActive: z.boolean(),
  skipMissed: z.boolean().default(false),
})
/** `before` null moves the webhook to the end. */
export const HookReorder = HookRef.extend({ before: id.nullable() })

const operation = z.enum([...HOOK_OPERATIONS, 'trigger'])
/** A call with unsaved settings. Without a record it sends sample values. */
export const HookTest = z.strictObject({
  tableId: id,
  /** A stored webhook, whose secret signs the call. */
  hookId: id.optional(),
  event: settings.event.default('after'),
  operation,
  recordId: z.union([z.int(), z.string().min(1).max(255)]).optional(),
  channel: settings.channel,
})
export const SampleInput = z.strictObject({ tableId: id, event: settings.event.default('after'), operation })

export const DeliveryList = HookRef.extend({
  status: z.enum(['waiting', 'delivered', 'dead']).optional(),
  /** The `next` of the page before. */
  cursor: z.string().max(64).nullish(),
  /** Sent by the client of infinite lists. */
  direction: z.enum(['forward', 'backward']).optional(),
})
export const DeliveryRef = HookRef.extend({ deliveryId: id })
/** Sends ended deliveries again: those with the ids, or all that were given up. */
export const RetryInput = HookRef.extend({
  deliveries: z.union([z.array(id).min(1).max(1_000), z.literal('dead')]),
})
export const TriggerInput = HookRef.extend({
  recordIds: z
    .array(z.union([z.int(), z.string().min(1).max(255)]))
    .min(1)
    .max(MAX_TRIGGERED),
})

export const PressInput = z.strictObject({
  tableId: id,
  fieldId: id,
  recordId: z.union([z.int(), z.string().min(1).max(255)]),
  /** For values of the current moment. */
  timeZone,
})
