import { Copy, FlaskConical, RefreshCw } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { isComputed } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { hasChoices } from '../../../src/core/fields/traits.ts'
import { type Condition as FieldCondition, isGroup } from '../../../src/core/filters/index.ts'
import {
  HOOK_OPERATIONS,
  type Hook,
  type HookDelivery,
  type HookSettings,
  type HookTestResult,
  isRecordEvent,
} from '../../../src/core/hooks.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { attempt } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { toast } from '../../ui/toast.ts'
import { useSubmit } from '../../ui/use-submit.ts'
import { describeCondition } from '../views/filter/describe-condition.ts'
import { asGroup, fromGroup, isComparable, isEffective, newCondition } from '../views/filter/filter-edit.ts'
import { ConditionEditor, FilterGroup } from '../views/filter/filter-group.tsx'
import { CHANNEL_FORMS, findChannelForm } from './channels/index.ts'
import { Deliveries } from './deliveries.tsx'
import { Exchange, prettyJson } from './exchange.tsx'
import styles from './hooks.module.css'
import { EVENT_LABELS, OPERATION_LABELS, whenText } from './trigger-labels.ts'

type EditorTab = 'settings' | 'deliveries'

interface HookEditorProps {
  baseId: string
  tableId: string
  /** Null: a new webhook. */
  hook: Hook | null
  tab?: EditorTab
  onClose: () => void
}

/** The dialog of a webhook: its settings with a test call, and its deliveries. */
export function HookEditor({ baseId, tableId, hook, tab: firstTab = 'settings', onClose }: HookEditorProps) {
  const [tab, setTab] = useState<EditorTab>(firstTab)
  const [opened] = useState<HookSettings>(() => settingsOf(hook))
  const [draft, setDraft] = useState(opened)
  const [when, setWhen] = useState<When>(() => (becomingOf(draft) ? 'becomes' : draft.event))
  const schema = trpc.schema.table.useQuery({ tableId })
  const people = trpc.records.people.useQuery({ baseId }).data ?? []
  const { problem, setProblem, isBusy, submit } = useSubmit(save, onClose)
  const fields = schema.data?.fields ?? []
  const suggestion = suggestedTitle(draft, { when, fields, people })
  const isChanged = JSON.stringify(draft) !== JSON.stringify(opened)

  function change(patch: Partial<HookSettings>) {
    setProblem(null)
    setDraft((now) => ({ ...now, ...patch }))
  }

  function choose(next: When) {
    setWhen(next)
    if (next !== 'becomes') return change({ event: next })
    const [first] = becomeFields(fields)
    if (first) change(becoming(becomingOf(draft) ?? newCondition(first)))
  }

  async function save() {
    const settings = { ...draft, title: draft.title.trim() || suggestion }
    if (hook) await api.hooks.update.mutate({ hookId: hook.id, patch: changesOf(settings, opened) })
    else await api.hooks.create.mutate({ tableId, ...settings })
    await cache.hooks.invalidate()
  }

  /** What the receiver still needs, which is then shown; true if that is nothing. */
  function hasReceiver(): boolean {
    const missing = findChannelForm(draft.channel.type)?.missing(draft.channel.payload) ?? null
    setProblem(missing)
    return missing === null
  }

  function saveComplete() {
    const condition = when === 'becomes' ? becomingOf(draft) : null
    // Without a value, it would be called for any change of the field.
    const hasNoValue = condition !== null && !isEffective(condition, fields)
    const hasNoChange = isRecordEvent(draft.event) && draft.operations.length === 0
    if (hasNoValue) setProblem(m.hooks_becomes_without_value())
    else if (hasNoChange) setProblem(m.hooks_no_change_chosen())
    else if (hasReceiver()) submit()
  }

  async function leave() {
    const agreed =
      !isChanged ||
      (await confirm({
        title: m.hooks_discard_title(),
        text: m.hooks_discard_text(),
        confirmLabel: m.hooks_discard(),
        danger: true,
      }))
    if (agreed) onClose()
  }

  const settings = schema.error ? (
    <QueryError title={m.hooks_load_failed()} query={schema} />
  ) : !schema.data ? (
    <Skeleton height={320} />
  ) : (
    <div className={styles.editor}>
      {hook?.pause && <PauseNote pause={hook.pause} />}
      <TextField
        label={m.hooks_name()}
        maxLength={255}
        data-autofocus={hook === null || undefined}
        placeholder={suggestion}
        value={draft.title}
        onChange={(event) => change({ title: event.target.value })}
      />
      <Trigger
        draft={draft}
        when={when}
        onChoose={choose}
        fields={schema.data.fields}
        people={people}
        onChange={change}
      />
      {isAboutRecords(when) && (
        <Condition draft={draft} fields={schema.data.fields} people={people} onChange={change} />
      )}
      <Receiver baseId={baseId} draft={draft} fields={schema.data.fields} onChange={change} />
      <TestCall
        tableId={tableId}
        hook={hook}
        draft={draft}
        operations={testedOperations(draft, when)}
        isReady={hasReceiver}
      />
      {hook && findChannelForm(draft.channel.type)?.isSigned && <Signature hook={hook} />}
    </div>
  )
  return (
    <Dialog
      title={hook ? hook.title : m.hooks_new_webhook()}
      size="large"
      onClose={() => void leave()}
      followsAddress
      {...(tab === 'settings' && {
        onSubmit: saveComplete,
        footer: (
          <>
            {problem && (
              <p role="alert" className={`${styles.error} ${styles.grow}`}>
                {problem}
              </p>
            )}
            <DialogButtons
              label={hook ? m.common_save() : m.hooks_create_webhook()}
              busy={isBusy}
              disabled={!schema.data || (hook !== null && !isChanged)}
              onClose={() => void leave()}
            />
          </>
        ),
      })}
    >
      {hook ? (
        <Tabs
          label={hook.title}
          tabs={[
            { id: 'settings', label: m.hooks_settings() },
            { id: 'deliveries', label: m.hooks_deliveries() },
          ]}
          selected={tab}
          onSelect={setTab}
          panelClassName={styles.panel}
        >
          {tab === 'settings' ? settings : <Deliveries hook={hook} />}
        </Tabs>
      ) : (
        settings
      )}
    </Dialog>
  )
}

/** The settings of a webhook, or those that a new one starts with. */
function settingsOf(hook: Hook | null): HookSettings {
  const [form] = CHANNEL_FORMS
  return {
    title: hook?.title ?? '',
    description: hook?.description ?? null,
    event: hook?.event ?? 'after',
    operations: hook?.operations ?? ['insert'],
    isActive: hook?.isActive ?? true,
    deliverPer: hook?.deliverPer ?? 'record',
    isConditional: hook?.isConditional ?? false,
    filter: hook?.filter ?? null,
    triggerFieldIds: hook?.triggerFieldIds ?? [],
    channel: hook?.channel ?? { type: form?.type ?? '', payload: form?.initial([]) ?? {} },
  }
}

/** The settings that differ: what others have changed meanwhile stays. */
function changesOf(settings: HookSettings, from: HookSettings): Partial<HookSettings> {
  const changed = Object.entries(settings).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(from[key as keyof HookSettings]),
  )
  return Object.fromEntries(changed) as Partial<HookSettings>
}

/** What the editor offers: `becomes` is the event `after` for one watched field with a condition on its value. */
type When = 'becomes' | HookSettings['event']

/** The settings of a webhook that is called when a field gets a value, in new records as well. */
const becoming = (condition: FieldCondition): Partial<HookSettings> => ({
  event: 'after',
  operations: ['insert', 'update'],
  triggerFieldIds: [condition.fieldId],
  isConditional: true,
  filter: condition,
})

/** The condition of `becoming`; null for other settings. */
function becomingOf({ event, operations, triggerFieldIds, isConditional, filter }: HookSettings) {
  const [condition, ...others] = asGroup(filter).children
  if (event !== 'after' || !isConditional || !condition || isGroup(condition) || others.length > 0)
    return null
  const isWatched = triggerFieldIds.length === 1 && triggerFieldIds[0] === condition.fieldId
  const [first, second, ...more] = operations
  const isInsertOrUpdate = first === 'insert' && second === 'update' && more.length === 0
  return isWatched && isInsertOrUpdate ? condition : null
}

/** The fields that may get a value, those with choices first. */
const becomeFields = (fields: readonly Field[]): Field[] =>
  fields
    .filter((field) => isWatchable(field) && isComparable(field))
    .toSorted((a, b) => Number(hasChoices(b)) - Number(hasChoices(a)))

/** The name of a webhook that gets none, e.g. “Slack: Status is Done”. */
function suggestedTitle(
  draft: HookSettings,
  { when, fields, people }: { when: When; fields: readonly Field[]; people: readonly Person[] },
): string {
  const condition = when === 'becomes' ? becomingOf(draft) : null
  const field = fields.find(({ id }) => id === condition?.fieldId)
  const text =
    condition && field
      ? describeCondition(condition, field, people)
      : whenText({ event: draft.event, operations: draft.operations })
  const receiver = findChannelForm(draft.channel.type)?.label() ?? draft.channel.type
  return m.hooks_title_suggestion({ receiver, when: text }).slice(0, 255)
}

const isAboutRecords = (when: When): boolean => when !== 'becomes' && isRecordEvent(when)

export const PAUSE_TEXTS: Record<NonNullable<Hook['pause']>['reason'], () => string> = {
  failing: m.hooks_pause_failing,
  condition: m.hooks_pause_condition,
  fields: m.hooks_pause_fields,
  settings: m.hooks_pause_settings,
}

function PauseNote({ pause }: { pause: NonNullable<Hook['pause']> }) {
  return (
    <Alert tone="error">
      <p>{PAUSE_TEXTS[pause.reason]()}</p>
      {pause.detail && <p>{pause.detail}</p>}
      <p>{m.hooks_pause_nothing_lost()}</p>
    </Alert>
  )
}

interface SectionProps {
  draft: HookSettings
  fields: readonly Field[]
  onChange: (patch: Partial<HookSettings>) => void
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}

interface TriggerProps extends SectionProps {
  when: When
  people: readonly Person[]
  onChoose: (when: When) => void
}

/** When the webhook is called. */
function Trigger({ draft, when, fields, people, onChoose, onChange }: TriggerProps) {
  const { operations, triggerFieldIds } = draft
  const condition = when === 'becomes' ? becomingOf(draft) : null
  const offered = WHEN_CHOICES.filter((one) => one !== 'becomes' || becomeFields(fields).length > 0)
  return (
    <Section title={m.hooks_when()}>
      <SelectField
        label={m.hooks_event()}
        value={when}
        onChange={({ target }) => onChoose(offered.find((one) => one === target.value) ?? when)}
      >
        {[...new Set([...offered, when])].map((one) => (
          <option key={one} value={one}>
            {WHEN_LABELS[one]()}
          </option>
        ))}
      </SelectField>
      {WHEN_HINTS[when] && <p className={styles.note}>{WHEN_HINTS[when]()}</p>}
      {condition && (
        <ConditionEditor
          condition={condition}
          fields={becomeFields(fields)}
          people={people}
          isActive
          onChange={(next) => onChange(becoming(next))}
        />
      )}
      {isAboutRecords(when) && (
        <div className={styles.checks}>
          {HOOK_OPERATIONS.map((operation) => (
            <Checkbox
              key={operation}
              label={OPERATION_LABELS[operation]()}
              checked={operations.includes(operation)}
              onChange={(isOn) =>
                onChange({
                  operations: HOOK_OPERATIONS.filter((one) =>
                    one === operation ? isOn : operations.includes(one),
                  ),
                })
              }
            />
          ))}
        </div>
      )}
      {isAboutRecords(when) && operations.includes('update') && (
        <FieldChoice
          fields={fields.filter(isWatchable)}
          chosen={triggerFieldIds}
          onChange={(ids) => onChange({ triggerFieldIds: ids })}
        />
      )}
      {isAboutRecords(when) && (
        <SelectField
          label={m.hooks_deliver_per()}
          value={draft.deliverPer}
          onChange={({ target }) => onChange({ deliverPer: target.value === 'call' ? 'call' : 'record' })}
        >
          <option value="record">{m.hooks_deliver_per_record()}</option>
          <option value="call">{m.hooks_deliver_per_call()}</option>
        </SelectField>
      )}
    </Section>
  )
}

/** What may be chosen; other events are shown where an API client has set them. */
const WHEN_CHOICES: readonly When[] = ['after', 'becomes', 'manual']

const WHEN_LABELS: Record<When, () => string> = { ...EVENT_LABELS, becomes: m.hooks_event_becomes }

const WHEN_HINTS: Partial<Record<When, () => string>> = {
  manual: m.hooks_event_manual_hint,
  view: m.hooks_event_never_called,
  field: m.hooks_event_never_called,
}

/** True for fields whose changes a webhook may watch: those with values of their own, and links. */
const isWatchable = (field: Field): boolean =>
  !field.isSystem && !field.isPrimaryKey && (!isComputed(field) || fieldType(field.type).computed === 'link')

interface FieldChoiceProps {
  fields: readonly Field[]
  chosen: readonly string[]
  onChange: (ids: string[]) => void
}

/** Limits updates to chosen fields. */
function FieldChoice({ fields, chosen, onChange }: FieldChoiceProps) {
  const [isOn, setOn] = useState(chosen.length > 0)
  return (
    <div className={styles.fieldChoice}>
      <Checkbox
        label={m.hooks_only_these_fields()}
        checked={isOn}
        onChange={(next) => {
          setOn(next)
          if (!next) onChange([])
        }}
      />
      {isOn && (
        <fieldset className={styles.fieldList} aria-label={m.hooks_only_these_fields()}>
          {fields.map(({ id, title }) => (
            <Checkbox
              key={id}
              label={<bdi>{title}</bdi>}
              checked={chosen.includes(id)}
              onChange={(isChosen) =>
                onChange(isChosen ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
          ))}
        </fieldset>
      )}
    </div>
  )
}

/** The records that the webhook is called for. */
function Condition({ draft, fields, people, onChange }: SectionProps & { people: readonly Person[] }) {
  const group = asGroup(draft.filter)
  return (
    <Section title={m.hooks_condition()}>
      <Switch
        label={m.hooks_only_matching()}
        checked={draft.isConditional}
        onChange={(isConditional) => onChange({ isConditional })}
      />
      {draft.isConditional && (
        <>
          {group.children.length === 0 && <p className={styles.note}>{m.hooks_condition_empty()}</p>}
          <FilterGroup
            group={group}
            root={group}
            path={[]}
            fields={fields.filter(isComparable)}
            people={people}
            onChange={(root) => onChange({ filter: fromGroup(root) })}
          />
        </>
      )}
    </Section>
  )
}

/** The channel and its settings. */
function Receiver({ baseId, draft, fields, onChange }: SectionProps & { baseId: string }) {
  const { channel } = draft
  const form = findChannelForm(channel.type)
  return (
    <Section title={m.hooks_what()}>
      <SelectField
        label={m.hooks_channel()}
        value={channel.type}
        onChange={({ target }) => {
          const next = findChannelForm(target.value)
          if (next) onChange({ channel: { type: next.type, payload: next.initial(fields) } })
        }}
      >
        {CHANNEL_FORMS.map(({ type, label }) => (
          <option key={type} value={type}>
            {label()}
          </option>
        ))}
        {!form && <option value={channel.type}>{channel.type}</option>}
      </SelectField>
      {form ? (
        <form.Settings
          key={form.type}
          type={form.type}
          baseId={baseId}
          payload={channel.payload}
          fields={fields}
          onChange={(payload) => onChange({ channel: { type: form.type, payload } })}
        />
      ) : (
        <p className={styles.note}>{m.hooks_channel_unknown()}</p>
      )}
    </Section>
  )
}

interface TestCallProps {
  tableId: string
  hook: Hook | null
  draft: HookSettings
  /** What the test may be about; the first one unless another is chosen. */
  operations: readonly HookDelivery['operation'][]
  /** Asked before a call; false if something is missing, which the dialog shows. */
  isReady: () => boolean
}

/** A field that gets a value is told of as an update, whose event has the most. */
function testedOperations(draft: HookSettings, when: When): HookDelivery['operation'][] {
  if (when === 'becomes') return ['update']
  return draft.event === 'manual' ? ['trigger'] : draft.operations
}

/** Sends the settings on screen, and shows the answer and the event they are filled from. */
function TestCall({ tableId, hook, draft, operations, isReady }: TestCallProps) {
  const [result, setResult] = useState<HookTestResult | null>(null)
  const [isRunning, setRunning] = useState(false)
  const [chosen, setChosen] = useState<HookDelivery['operation'] | null>(null)
  const operation = operations.find((one) => one === chosen) ?? operations[0] ?? 'insert'

  async function run() {
    if (!isReady()) return
    setRunning(true)
    setResult(null)
    await attempt(async () =>
      setResult(
        await api.hooks.test.mutate({
          tableId,
          hookId: hook?.id,
          event: draft.event,
          operation,
          channel: draft.channel,
        }),
      ),
    )
    setRunning(false)
  }

  return (
    <Section title={m.hooks_test()}>
      <div className={styles.tools}>
        {operations.length > 1 && (
          <SelectField
            label={m.hooks_test_change()}
            value={operation}
            onChange={({ target }) => setChosen(operations.find((one) => one === target.value) ?? null)}
          >
            {operations.map((one) => (
              <option key={one} value={one}>
                {OPERATION_LABELS[one]()}
              </option>
            ))}
          </SelectField>
        )}
        <Button icon={FlaskConical} busy={isRunning} onClick={() => void run()}>
          {m.hooks_send_test()}
        </Button>
      </div>
      <div aria-live="polite">
        {result && (
          <>
            <p className={styles.result} data-status={result.isDelivered ? 'delivered' : 'dead'}>
              {result.isDelivered
                ? m.hooks_test_delivered({ ms: formatNumber(result.durationMs) })
                : m.hooks_test_failed()}
            </p>
            <Exchange {...result} />
          </>
        )}
      </div>
      <SamplePayload tableId={tableId} event={draft.event} operation={operation} />
    </Section>
  )
}

interface SamplePayloadProps {
  tableId: string
  event: HookSettings['event']
  operation: HookDelivery['operation']
}

function SamplePayload({ tableId, event, operation }: SamplePayloadProps) {
  const [isOpen, setOpen] = useState(false)
  const sample = trpc.hooks.sample.useQuery({ tableId, event, operation }, { enabled: isOpen })
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{m.hooks_sample_payload()}</summary>
      {sample.error ? (
        <QueryError title={m.hooks_load_failed()} query={sample} />
      ) : sample.data ? (
        <pre dir="ltr" className={styles.body}>
          {prettyJson(JSON.stringify(sample.data))}
        </pre>
      ) : (
        isOpen && <Skeleton height={80} />
      )}
    </details>
  )
}

/** The key with which a receiver checks that a call comes from this webhook. */
function Signature({ hook }: { hook: Hook }) {
  const id = useId()
  const [isShown, setShown] = useState(false)
  const secret = trpc.hooks.secret.useQuery(
    { hookId: hook.id },
    { enabled: isShown, staleTime: 0, gcTime: 0 },
  )

  async function renew() {
    const agreed = await confirm({
      title: m.hooks_renew_secret_title(),
      text: m.hooks_renew_secret_text(),
      confirmLabel: m.hooks_renew_secret(),
      danger: true,
    })
    if (!agreed) return
    await attempt(() => api.hooks.renewSecret.mutate({ hookId: hook.id }))
    await secret.refetch()
  }

  return (
    <Section title={m.hooks_signature()}>
      <p id={id} className={styles.note}>
        {m.hooks_signature_hint()}
      </p>
      {!isShown ? (
        <Button aria-describedby={id} onClick={() => setShown(true)}>
          {m.hooks_show_secret()}
        </Button>
      ) : secret.error ? (
        <QueryError title={m.hooks_load_failed()} query={secret} />
      ) : (
        <div className={styles.tools}>
          <code className={styles.secret} dir="ltr">
            {secret.data ?? <Skeleton width={280} />}
          </code>
          <Button
            size="small"
            icon={Copy}
            disabled={!secret.data}
            onClick={async () => {
              if (secret.data && (await copyText(secret.data))) toast.success({ text: m.common_copied() })
            }}
          >
            {m.common_copy()}
          </Button>
          <Button size="small" icon={RefreshCw} onClick={() => void renew()}>
            {m.hooks_renew_secret()}
          </Button>
        </div>
      )}
    </Section>
  )
}
