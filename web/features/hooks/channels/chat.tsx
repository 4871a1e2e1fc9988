import { MessageCircle, Phone } from 'lucide-react'
import { CHAT_PLUGINS } from '../../../../src/core/plugins/index.ts'
import { m } from '../../../messages.gen.ts'
import { trpc } from '../../../trpc.ts'
import { SelectField, TextField } from '../../../ui/field.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import styles from '../hooks.module.css'
import { TemplateField } from '../template-field.tsx'
import { type ChannelForm, type ChannelPayload, type ChannelSettingsProps, textOf } from './channel-form.ts'

type ChatPlugin = (typeof CHAT_PLUGINS)[number]

/** Where messages to a service with channels go: to a named channel, or to a webhook URL. */
interface Target {
  channel: string
  webhookUrl: string
}

function targetOf({ channels }: ChannelPayload): Target {
  const [first] = Array.isArray(channels) ? channels : []
  return { channel: textOf(first ?? {}, 'channel'), webhookUrl: textOf(first ?? {}, 'webhook_url') }
}

const withTarget = (payload: ChannelPayload, { channel, webhookUrl }: Target): ChannelPayload => ({
  ...payload,
  channels: [channel === '' ? { webhook_url: webhookUrl } : { channel }],
})

const takesAddress = (plugin: ChatPlugin): boolean => plugin.inputs.some(({ key }) => key === 'webhook_url')

/** The settings of a message to a chat service, some of whose channels super admins may have set up. */
function ChatSettings({ type, payload, onChange, fields, baseId }: ChannelSettingsProps) {
  const plugin = CHAT_PLUGINS.find(({ hookChannel }) => hookChannel === type)
  const services = trpc.plugins.channels.useQuery({ baseId }, { staleTime: 0 })
  if (services.error && !services.data) {
    return <QueryError title={m.hooks_services_load_failed()} query={services} />
  }
  if (!services.data || !plugin) return <Skeleton height={120} />
  const service = services.data.find((one) => one.type === type)
  return (
    <>
      {!service && !takesAddress(plugin) && (
        <p className={styles.note}>{m.hooks_service_not_configured({ service: plugin.title })}</p>
      )}
      {'isList' in plugin ? (
        <ChatTarget
          names={service?.channels ?? []}
          canTakeAddress={takesAddress(plugin)}
          target={targetOf(payload)}
          onChange={(target) => onChange(withTarget(payload, target))}
        />
      ) : (
        <TemplateField
          label={m.hooks_phone_number()}
          placeholder="+15550100"
          kind="text"
          fields={fields}
          maxLength={1_000}
          value={textOf(payload, 'to')}
          onChange={(to) => onChange({ ...payload, to })}
        />
      )}
      <TemplateField
        label={m.hooks_message()}
        kind="text"
        fields={fields}
        rows={4}
        maxLength={50_000}
        placeholder={m.hooks_message_example()}
        value={textOf(payload, 'body')}
        onChange={(body) => onChange({ ...payload, body })}
      />
    </>
  )
}

interface ChatTargetProps {
  /** The configured channels. */
  names: readonly string[]
  canTakeAddress: boolean
  target: Target
  onChange: (target: Target) => void
}

function ChatTarget({ names, canTakeAddress, target, onChange }: ChatTargetProps) {
  const { channel, webhookUrl } = target
  const isUnknown = channel !== '' && !names.includes(channel)
  return (
    <>
      {(names.length > 0 || isUnknown || !canTakeAddress) && (
        <SelectField
          label={m.hooks_chat_channel()}
          value={channel}
          error={isUnknown ? m.hooks_chat_channel_gone() : null}
          onChange={(event) => onChange({ channel: event.target.value, webhookUrl: '' })}
        >
          <option value="">{canTakeAddress ? m.hooks_chat_other() : m.common_choose()}</option>
          {isUnknown && <option value={channel}>{channel}</option>}
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      )}
      {canTakeAddress && channel === '' && (
        <TextField
          label={m.hooks_chat_address()}
          help={m.hooks_chat_address_help()}
          placeholder="https://"
          dir="ltr"
          maxLength={2_083}
          value={webhookUrl}
          onChange={(event) => onChange({ channel: '', webhookUrl: event.target.value })}
        />
      )}
    </>
  )
}

/** The forms of all chat services. */
export const chatForms: readonly ChannelForm[] = CHAT_PLUGINS.map((plugin) => ({
  type: plugin.hookChannel,
  label: () => plugin.title,
  icon: 'isList' in plugin ? MessageCircle : Phone,
  isSigned: false,
  initial: () => ('isList' in plugin ? { channels: [{ webhook_url: '' }], body: '' } : { to: '', body: '' }),
  Settings: ChatSettings,
  // A webhook URL is a password.
  describe: (payload) => targetOf(payload).channel || textOf(payload, 'to') || plugin.title,
}))
