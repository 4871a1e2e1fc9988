import { Mail } from 'lucide-react'
import { m } from '../../../messages.gen.ts'
import { nameTemplate, TemplateField } from '../template-field.tsx'
import { type ChannelForm, type ChannelSettingsProps, firstEmpty, textOf } from './channel-form.ts'

function EmailSettings({ payload, onChange, fields }: ChannelSettingsProps) {
  const set = (patch: object) => onChange({ ...payload, ...patch })
  return (
    <>
      <TemplateField
        label={m.hooks_recipients()}
        help={m.hooks_recipients_help()}
        placeholder="ann@example.com, bob@example.com"
        kind="text"
        fields={fields}
        maxLength={2_000}
        value={textOf(payload, 'to')}
        onChange={(to) => set({ to })}
      />
      <TemplateField
        label={m.hooks_subject()}
        kind="text"
        fields={fields}
        maxLength={1_000}
        value={textOf(payload, 'subject')}
        onChange={(subject) => set({ subject })}
      />
      <TemplateField
        label={m.hooks_message()}
        help={m.hooks_message_help()}
        kind="text"
        fields={fields}
        rows={5}
        maxLength={50_000}
        value={textOf(payload, 'body')}
        onChange={(body) => set({ body })}
      />
    </>
  )
}

/** Sends a mail by the mail server of the installation. */
export const emailForm: ChannelForm = {
  type: 'Email',
  label: m.hooks_channel_email,
  icon: Mail,
  isSigned: false,
  initial: (fields) => ({ to: '', subject: nameTemplate(fields), body: '' }),
  Settings: EmailSettings,
  missing: (payload) =>
    firstEmpty(payload, {
      to: m.hooks_enter_recipients,
      subject: m.hooks_enter_subject,
      body: m.hooks_enter_message,
    }),
  describe: (payload) => textOf(payload, 'to'),
}
