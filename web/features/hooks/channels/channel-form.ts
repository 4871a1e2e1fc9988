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
  /** The settings of a new webhook. */
  initial: () => ChannelPayload
  Settings: ComponentType<ChannelSettingsProps>
  /** The receiver in one line, for the list of webhooks. */
  describe: (payload: ChannelPayload) => string
}

/** A text among the settings; empty if it is missing or no text. */
export const textOf = (payload: ChannelPayload, name: string): string => {
  const value = payload[name]
  return typeof value === 'string' ? value : ''
}
