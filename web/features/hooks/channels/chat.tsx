import { MessageCircle, Phone, Plus, X } from 'lucide-react'
import { useId } from 'react'
import { MAX_CHAT_RECEIVERS } from '../../../../src/core/hooks.ts'
import { CHAT_PLUGINS } from '../../../../src/core/plugins/index.ts'
import { m } from '../../../messages.gen.ts'
import { trpc } from '../../../trpc.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Checkbox } from '../../../ui/checkbox.tsx'
import { TextField } from '../../../ui/field.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import styles from '../hooks.module.css'
import { nameTemplate, TemplateField } from '../template-field.tsx'
import {
  type ChannelForm,
  type ChannelPayload,
  type ChannelSettingsProps,
  firstEmpty,
  textOf,
} from './channel-form.ts'

type ChatPlugin = (typeof CHAT_PLUGINS)[number]

/** A channel that messages go to: a configured one by its name, or one by its webhook URL. */
type Receiver = { channel: string } | { webhook_url: string }

function receiversOf({ channels }: ChannelPayload): Receiver[] {
  if (!Array.isArray(channels)) return []
  return channels.map((one: ChannelPayload) => {
    const channel = textOf(one, 'channel')
    return channel === '' ? { webhook_url: textOf(one, 'webhook_url') } : { channel }
  })
}

const isFilled = (one: Receiver): boolean => 'channel' in one || one.webhook_url.trim() !== ''

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
        <ChatReceivers
          names={service?.channels ?? []}
          canTakeAddress={takesAddress(plugin)}
          receivers={receiversOf(payload)}
          onChange={(channels) => onChange({ ...payload, channels })}
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
        help={m.hooks_message_help()}
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

interface ChatReceiversProps {
  /** The configured channels. */
  names: readonly string[]
  canTakeAddress: boolean
  receivers: readonly Receiver[]
  onChange: (receivers: Receiver[]) => void
}

function ChatReceivers({ names, canTakeAddress, receivers, onChange }: ChatReceiversProps) {
  const labelId = useId()
  const chosen = receivers.flatMap((one) => ('channel' in one ? one.channel : []))
  const gone = chosen.filter((name) => !names.includes(name))
  const isFull = receivers.length >= MAX_CHAT_RECEIVERS
  const choose = (channel: string, isChosen: boolean) =>
    onChange(
      isChosen
        ? [...receivers.filter(isFilled), { channel }]
        : receivers.filter((one) => !('channel' in one) || one.channel !== channel),
    )
  return (
    <>
      {names.length + gone.length > 0 && (
        <div className={styles.fieldChoice}>
          <span id={labelId}>{m.hooks_chat_channels()}</span>
          <fieldset className={styles.fieldList} aria-labelledby={labelId}>
            {[...names, ...gone].map((name) => (
              <Checkbox
                key={name}
                label={<bdi>{name}</bdi>}
                help={gone.includes(name) ? m.hooks_chat_channel_gone() : undefined}
                checked={chosen.includes(name)}
                disabled={isFull && !chosen.includes(name)}
                onChange={(isChosen) => choose(name, isChosen)}
              />
            ))}
          </fieldset>
        </div>
      )}
      {receivers.map(
        (one, at) =>
          'webhook_url' in one && (
            // biome-ignore lint/suspicious/noArrayIndexKey: addresses have no other identity while they are typed
            <div key={at} className={styles.receiverAddress}>
              <TextField
                label={m.hooks_chat_address()}
                help={m.hooks_chat_address_help()}
                placeholder="https://"
                dir="ltr"
                maxLength={2_083}
                value={one.webhook_url}
                onChange={({ target }) => onChange(receivers.with(at, { webhook_url: target.value }))}
              />
              {receivers.length > 1 && (
                <IconButton
                  icon={X}
                  label={m.hooks_chat_remove_address()}
                  onClick={() => onChange(receivers.toSpliced(at, 1))}
                />
              )}
            </div>
          ),
      )}
      {canTakeAddress && !isFull && (
        <div>
          <Button size="small" icon={Plus} onClick={() => onChange([...receivers, { webhook_url: '' }])}>
            {m.hooks_chat_add_address()}
          </Button>
        </div>
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
  initial: (fields) => ({
    ...('isList' in plugin ? { channels: [{ webhook_url: '' }] } : { to: '' }),
    body: nameTemplate(fields),
  }),
  Settings: ChatSettings,
  missing(payload) {
    if (!('isList' in plugin)) {
      return firstEmpty(payload, { to: m.hooks_enter_phone_number, body: m.hooks_enter_message })
    }
    const hasReceivers = receiversOf(payload).length > 0 && receiversOf(payload).every(isFilled)
    return hasReceivers ? firstEmpty(payload, { body: m.hooks_enter_message }) : m.hooks_enter_channel()
  },
  // A webhook URL is a password.
  describe(payload) {
    const named = receiversOf(payload).flatMap((one) => ('channel' in one ? one.channel : []))
    return named.join(', ') || textOf(payload, 'to') || plugin.title
  },
}))
