import { Globe, Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import type { TemplateKind } from '../../../../src/core/templates/template.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { SelectField, TextField } from '../../../ui/field.tsx'
import { SwitchInput } from '../../../ui/switch.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import styles from '../hooks.module.css'
import { TemplateField } from '../template-field.tsx'
import { type ChannelForm, type ChannelSettingsProps, firstEmpty, textOf } from './channel-form.ts'

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const WHOLE_EVENT = '{{ json event }}'

/** A header or a parameter. */
interface Pair {
  name: string
  value: string
  enabled: boolean
}

/** Reads pairs of stored settings, in which everything may be missing. */
function pairsOf(stored: unknown): Pair[] {
  if (!Array.isArray(stored)) return []
  return stored.map((pair: Partial<Pair> | null) => ({
    name: pair?.name ?? '',
    value: pair?.value ?? '',
    enabled: pair?.enabled !== false,
  }))
}

type Tab = 'body' | 'headers' | 'parameters'

function UrlSettings({ payload, onChange, fields }: ChannelSettingsProps) {
  const [tab, setTab] = useState<Tab>('body')
  const set = (patch: object) => onChange({ ...payload, ...patch })
  const method = textOf(payload, 'method') || 'POST'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const headers = pairsOf(payload.headers)
  const parameters = pairsOf(payload.parameters)
  const tabs = [
    ...(hasBody ? [{ id: 'body' as const, label: m.hooks_body() }] : []),
    { id: 'headers' as const, label: withCount(m.hooks_headers(), headers) },
    { id: 'parameters' as const, label: withCount(m.hooks_parameters(), parameters) },
  ]
  const selected = tabs.some(({ id }) => id === tab) ? tab : 'headers'
  return (
    <>
      <div className={styles.request}>
        <SelectField
          label={m.hooks_method()}
          value={method}
          onChange={(event) => set({ method: event.target.value })}
        >
          {METHODS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        <TemplateField
          label={m.hooks_address()}
          placeholder="https://example.com/webhook"
          kind="url"
          fields={fields}
          maxLength={2_083}
          value={textOf(payload, 'path')}
          onChange={(path) => set({ path })}
        />
      </div>
      <Tabs
        label={m.hooks_request()}
        tabs={tabs}
        selected={selected}
        onSelect={setTab}
        panelClassName={styles.panel}
      >
        {selected === 'body' ? (
          <TemplateField
            label={m.hooks_body()}
            help={m.hooks_body_help()}
            kind={bodyKind(headers)}
            fields={fields}
            rows={6}
            maxLength={50_000}
            placeholder={WHOLE_EVENT}
            value={textOf(payload, 'body')}
            onChange={(body) => set({ body })}
          />
        ) : selected === 'headers' ? (
          <Pairs
            pairs={headers}
            kind="header"
            addLabel={m.hooks_add_header()}
            fields={fields}
            onChange={(next) => set({ headers: next })}
          />
        ) : (
          <Pairs
            pairs={parameters}
            kind="text"
            addLabel={m.hooks_add_parameter()}
            fields={fields}
            onChange={(next) => set({ parameters: next })}
          />
        )}
      </Tabs>
    </>
  )
}

const withCount = (label: string, pairs: readonly Pair[]): string =>
  pairs.length === 0 ? label : `${label} (${pairs.length})`

/** Mistakes in JSON are only reported where the content type is JSON, the default. */
function bodyKind(headers: readonly Pair[]): TemplateKind {
  const type = headers.find(({ name, enabled }) => enabled && name.toLowerCase() === 'content-type')?.value
  return type === undefined || /json/i.test(type) ? 'json' : 'text'
}

interface PairsProps extends Pick<ChannelSettingsProps, 'fields'> {
  pairs: readonly Pair[]
  kind: TemplateKind
  addLabel: string
  onChange: (pairs: Pair[]) => void
}

function Pairs({ pairs, kind, addLabel, fields, onChange }: PairsProps) {
  const id = useId()
  const change = (index: number, patch: Partial<Pair>) =>
    onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...patch } : pair)))
  return (
    <div className={styles.pairs}>
      {pairs.map((pair, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pairs have no identity, and are only removed.
        <div key={`${id}-${index}`} className={styles.pair} data-testid="hook-pair">
          <SwitchInput
            aria-label={m.hooks_use_pair({ name: pair.name || m.hooks_name() })}
            checked={pair.enabled}
            onChange={(enabled) => change(index, { enabled })}
          />
          <TextField
            label={m.hooks_name()}
            className={styles.pairName}
            maxLength={256}
            dir="ltr"
            value={pair.name}
            onChange={(event) => change(index, { name: event.target.value })}
          />
          <TemplateField
            label={m.hooks_value()}
            kind={kind}
            fields={fields}
            maxLength={4_000}
            value={pair.value}
            onChange={(value) => change(index, { value })}
          />
          <IconButton
            icon={X}
            size="small"
            label={m.hooks_remove_pair({ name: pair.name || m.hooks_name() })}
            onClick={() => onChange(pairs.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button
        size="small"
        icon={Plus}
        onClick={() => onChange([...pairs, { name: '', value: '', enabled: true }])}
      >
        {addLabel}
      </Button>
    </div>
  )
}

/** Calls an address. */
export const urlForm: ChannelForm = {
  type: 'URL',
  label: m.hooks_channel_url,
  icon: Globe,
  isSigned: true,
  initial: () => ({ method: 'POST', path: '', body: WHOLE_EVENT, headers: [], parameters: [] }),
  Settings: UrlSettings,
  missing: (payload) => firstEmpty(payload, { path: m.hooks_enter_address }),
  describe: (payload) => `${textOf(payload, 'method') || 'POST'} ${textOf(payload, 'path')}`,
}
