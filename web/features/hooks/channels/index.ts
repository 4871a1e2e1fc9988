/** The forms of the channels of webhooks: a file each, and this registry. */

import type { ChannelForm } from './channel-form.ts'
import { chatForms } from './chat.tsx'
import { emailForm } from './email.tsx'
import { urlForm } from './url.tsx'

export type { ChannelForm, ChannelPayload } from './channel-form.ts'

export const CHANNEL_FORMS: readonly ChannelForm[] = [urlForm, emailForm, ...chatForms]

/** The form of a channel; null for a channel of a later version. */
export const findChannelForm = (type: string): ChannelForm | null =>
  CHANNEL_FORMS.find((form) => form.type === type) ?? null
