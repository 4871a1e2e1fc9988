import { Plus, Trash2 } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import {
  type PluginConfig,
  type PluginDefinition,
  type PluginInput,
  type PluginValues,
  SECRET_MASK,
} from '../../../src/core/plugins/index.ts'
import { detailsOf, messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.ts'
import styles from './plugin-dialog.module.css'

type Plugin = Outputs['plugins']['list'][number]
type TestResult = Outputs['plugins']['test']

/** A channel, or the only values of a plugin without channels. */
interface Item {
  key: number
  values: PluginValues
}

interface Problem {
  key: string | null
  index: number | null
  message: string
}

/** Configures a plugin by the inputs of its definition; shows it read-only if the environment sets it. */
export function PluginDialog({
  plugin,
  definition,
  onClose,
}: {
  plugin: Plugin
  definition: PluginDefinition
  onClose: () => void
}) {
  const { id, isFromEnvironment } = plugin
  const utils = trpc.useUtils()
  const setup = trpc.app.setup.useQuery()
  const [items, setItems] = useState<Item[]>(() => itemsOf(definition, plugin.config))
  const [problems, setProblems] = useState<Problem[]>([])
  const [phone, setPhone] = useState('')
  const [result, setResult] = useState<TestResult | { error: string } | null>(null)
  const form = useRef<HTMLDivElement>(null)
  const onError = (error: unknown) => {
    const found = problemsOf(error)
    flushSync(() => setProblems(found))
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    setResult(found.some(({ key }) => key !== null) ? null : { error: messageOf(error) })
  }
  const onSuccess = (found: TestResult) => {
    setProblems([])
    setResult(found)
  }
  const test = trpc.plugins.test.useMutation()
  const testEnvironment = trpc.plugins.testEnvironment.useMutation({ onError, onSuccess })
  async function changed(text: string) {
    toast.success({ text })
    onClose()
    await Promise.all([utils.plugins.invalidate(), utils.app.info.invalidate()])
  }
  const save = trpc.plugins.save.useMutation({
    onError,
    onSuccess: () => changed(m.plugins_saved({ title: plugin.title })),
  })
  const deactivate = trpc.plugins.deactivate.useMutation({
    onError,
    onSuccess: () => changed(m.plugins_reset_done({ title: plugin.title })),
  })
  const isBusy = [test, testEnvironment, save, deactivate].some(({ isPending }) => isPending)
  const needsPhone = definition.category === 'chat' && !definition.isList

  const config = (): PluginConfig => {
    const values = items.map((item) => item.values)
    return definition.isList ? values : (values[0] ?? {})
  }

  /** Drops the outcome of a test, and the callbacks of one that is running. */
  function forgetTest() {
    setResult(null)
    test.reset()
  }

  function change(item: Item, key: string, value: string | boolean) {
    forgetTest()
    setProblems((known) => known.filter((one) => one.key !== key || one.index !== indexOf(item)))
    setItems((known) =>
      known.map((one) => (one.key === item.key ? { ...one, values: { ...one.values, [key]: value } } : one)),
    )
  }

  const indexOf = (item: Item) => (definition.isList ? items.indexOf(item) : null)

  function runTest() {
    setResult(null)
    const { category } = definition
    if (isFromEnvironment && category !== 'chat') testEnvironment.mutate({ category })
    else test.mutate({ id, config: config(), ...(needsPhone && { to: phone }) }, { onError, onSuccess })
  }

  async function reset() {
    const isAgreed = await confirm({
      title: m.plugins_reset_confirm({ title: plugin.title }),
      text: RESET_CONSEQUENCES[definition.category](),
      confirmLabel: m.plugins_reset(),
      danger: true,
    })
    if (isAgreed) deactivate.mutate({ id, keepConfig: false })
  }

  return (
    <Dialog
      title={plugin.title}
      onClose={onClose}
      onSubmit={isFromEnvironment ? runTest : () => !isBusy && save.mutate({ id, config: config() })}
      footer={
        <>
          {!isFromEnvironment &&
            plugin.updatedAt !== null &&
            (plugin.config !== null || plugin.isUnreadable) && (
              <Button className={styles.reset} variant="ghost" disabled={isBusy} onClick={() => void reset()}>
                {m.plugins_reset()}
              </Button>
            )}
          <Button busy={test.isPending || testEnvironment.isPending} disabled={isBusy} onClick={runTest}>
            {m.plugins_test()}
          </Button>
          {isFromEnvironment ? (
            <Button onClick={onClose}>{m.common_close()}</Button>
          ) : (
            <Button type="submit" variant="primary" busy={save.isPending} disabled={isBusy}>
              {m.common_save()}
            </Button>
          )}
        </>
      }
    >
      <div ref={form} className={styles.form}>
        {isFromEnvironment && <Alert>{m.plugins_from_environment_hint()}</Alert>}
        {!isFromEnvironment && definition.category === 'storage' && (
          <Alert>{m.plugins_switch_store_hint()}</Alert>
        )}
        {items.map((item, index) => (
          <Fields
            key={item.key}
            inputs={definition.inputs.filter(
              ({ key }) => key !== 'public_url' || setup.data?.publicUrl === null,
            )}
            item={item}
            index={indexOf(item)}
            isReadOnly={isFromEnvironment}
            problems={problems}
            onChange={(key, value) => change(item, key, value)}
            onRemove={
              definition.isList && items.length > 1
                ? () => {
                    forgetTest()
                    setProblems([])
                    setItems(items.toSpliced(index, 1))
                  }
                : undefined
            }
          />
        ))}
        {definition.isList && (
          <div>
            <Button
              icon={Plus}
              size="small"
              onClick={() => {
                forgetTest()
                setItems([...items, { key: nextKey++, values: valuesOf(definition, {}) }])
              }}
            >
              {m.plugins_add_channel()}
            </Button>
          </div>
        )}
        {needsPhone && (
          <TextField
            label={m.plugins_test_phone()}
            help={m.plugins_test_phone_hint()}
            dir="ltr"
            type="tel"
            value={phone}
            onChange={(event) => setPhone(event.target.value)}
          />
        )}
        {result && <Result result={result} category={definition.category} />}
      </div>
    </Dialog>
  )
}

function Result({
  result,
  category,
}: {
  result: TestResult | { error: string }
  category: PluginDefinition['category']
}) {
  const problem = 'error' in result ? result.error : result.problem
  const recipient = 'recipient' in result ? result.recipient : null
  return (
    <div ref={reveal}>
      {problem === null ? (
        <Alert>{SUCCESSES[category](recipient ?? '')}</Alert>
      ) : (
        <Alert tone="error">{problem}</Alert>
      )}
    </div>
  )
}

const SUCCESSES: Record<PluginDefinition['category'], (recipient: string) => string> = {
  email: (email) => m.plugins_test_mail_accepted({ email }),
  storage: () => m.plugins_test_store_works(),
  chat: () => m.plugins_test_message_posted(),
}

/** Long dialogs scroll. */
const reveal = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

interface FieldsProps {
  inputs: readonly PluginInput[]
  item: Item
  /** Position among the channels; null without channels. */
  index: number | null
  isReadOnly: boolean
  problems: readonly Problem[]
  onChange: (key: string, value: string | boolean) => void
  onRemove?: () => void
}

/** The inputs of one channel, or of a plugin without channels. */
function Fields({ inputs, item, index, isReadOnly, problems, onChange, onRemove }: FieldsProps) {
  const legendId = useId()
  const fields = inputs.map((input) => {
    const problem = problems.find((one) => one.key === input.key && one.index === index)
    return (
      <InputField
        key={input.key}
        input={input}
        value={item.values[input.key]}
        isReadOnly={isReadOnly}
        error={problem?.message ?? null}
        onChange={(value) => onChange(input.key, value)}
      />
    )
  })
  if (index === null) return fields
  const name = String(item.values.channel ?? '') || m.plugins_channel_number({ n: index + 1 })
  return (
    <fieldset className={styles.channel} aria-labelledby={legendId}>
      <div className={styles.channelTitle}>
        <strong id={legendId} dir="auto">
          {name}
        </strong>
        {onRemove && (
          <IconButton
            icon={Trash2}
            size="small"
            label={m.plugins_remove_channel({ channel: name })}
            onClick={onRemove}
          />
        )}
      </div>
      {fields}
    </fieldset>
  )
}

interface InputFieldProps {
  input: PluginInput
  value: string | number | boolean | undefined
  isReadOnly: boolean
  error: string | null
  onChange: (value: string | boolean) => void
}

function InputField({ input, value, isReadOnly, error, onChange }: InputFieldProps) {
  const { kind, label, help, placeholder, isRequired } = input
  if (kind === 'switch') {
    return (
      <Switch
        label={label()}
        hint={help?.()}
        checked={value === true}
        disabled={isReadOnly}
        onChange={onChange}
      />
    )
  }
  const isStored = kind === 'secret' && value === SECRET_MASK
  const Field = kind === 'secret' ? PasswordField : TextField
  return (
    <Field
      label={isRequired ? label() : m.plugins_optional({ label: label() })}
      help={help?.()}
      error={error}
      readOnly={isReadOnly}
      autoComplete={kind === 'secret' ? 'new-password' : 'off'}
      inputMode={kind === 'number' ? 'numeric' : undefined}
      placeholder={isStored ? m.plugins_secret_stored() : placeholder}
      // Names of channels may be in any language; everything else is an address, a number or a key.
      dir={input.key === 'channel' ? 'auto' : 'ltr'}
      spellCheck={false}
      value={isStored ? '' : String(value ?? '')}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

let nextKey = 1

function itemsOf(definition: PluginDefinition, config: PluginConfig | null): Item[] {
  const all = config === null ? [{}] : Array.isArray(config) ? config : [config]
  return all.map((values) => ({ key: nextKey++, values: valuesOf(definition, values) }))
}

/** The values with initial ones for what is missing. */
function valuesOf(definition: PluginDefinition, values: PluginValues): PluginValues {
  const initial = definition.inputs.flatMap(({ key, kind, isOn = false }): [string, string | boolean][] => {
    if (kind === 'switch') return [[key, isOn]]
    return key === 'public_url' ? [[key, location.origin]] : []
  })
  return { ...Object.fromEntries(initial), ...values }
}

/** What is wrong with single inputs, as the server has found. */
function problemsOf(error: unknown): Problem[] {
  const { problems } = detailsOf(error)
  return Array.isArray(problems) ? problems : []
}

const RESET_CONSEQUENCES: Record<PluginDefinition['category'], () => string> = {
  email: m.plugins_reset_email_consequences,
  storage: m.plugins_reset_storage_consequences,
  chat: m.plugins_reset_chat_consequences,
}
