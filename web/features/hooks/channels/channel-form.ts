import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Field } from '../../../../src/core/model.ts'

/** The settings of a channel as the server stores them. */
export type ChannelPayload = Record<string, unknown>

export interface ChannelSettingsProps {
  /** The type of the channel. */
  type: string
  payload: ChannelPayload
  onChange: (payload: ChannelPayload) => void
  baseId: string
  /** The fields of the table, for templates. */
  fields: readonly Field[]
}

/** How a channel of webhooks is set up. */
export interface ChannelForm {
  /** The type of the channel on the server, e.g. `URL`. */
  type: string
  label: () => string
  icon: LucideIcon
  /** Whether calls are signed with the secret of the webhook. */
  isSigned: boolean
  /** The settings of a new webhook, whose table has these fields. */
  initial: (fields: readonly Field[]) => ChannelPayload
  Settings: ComponentType<ChannelSettingsProps>
  /** What has to be filled in before anything can be sent; null if nothing is missing. */
  missing: (payload: ChannelPayload) => string | null
  /** The receiver in one line, for the list of webhooks. */
  describe: (payload: ChannelPayload) => string
}

/** The message for the first of the named texts that is empty; null if none is. */
export const firstEmpty = (payload: ChannelPayload, messages: Record<string, () => string>): string | null =>
  Object.entries(messages).find(([name]) => textOf(payload, name).trim() === '')?.[1]() ?? null

/** A text among the settings; empty if it is missing or no text. */
export const textOf = (payload: ChannelPayload, name: string): string => {
  const value = payload[name]
  return typeof value === 'string' ? value : ''
}
