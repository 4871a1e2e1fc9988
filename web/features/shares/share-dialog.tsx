import { type ReactNode, useId, useState } from 'react'
import type { Base, TableSchema, View, ViewKind } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import type { Share, ShareKind } from '../../../src/core/shares.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { availableLanguages, formatAgo } from '../../i18n.ts'
import { LANGUAGE_NAMES } from '../../language-names.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { BASE_COLORS } from '../layout/base-icon.tsx'
import { PrefillBuilder } from './prefill-builder.tsx'
import { addressOfShare } from './share-address.ts'
import styles from './share-dialog.module.css'
import { ShareLink } from './share-link.tsx'
import { ShareExpiry, SharePassword, SharingAddress } from './share-settings.tsx'
import { type ShareTarget, shareRefusal } from './share-target.ts'
import { type ShareState, useShare } from './use-share.ts'
import { visitorSummary } from './visitor-page.ts'

/** Public links of a view and of its base. */
export function ShareDialog({ baseId, tableId, viewId, onClose }: ShareTarget & { onClose: () => void }) {
  const base = trpc.bases.get.useQuery({ baseId })
  const schema = trpc.schema.table.useQuery({ tableId: tableId ?? '' }, { enabled: tableId !== undefined })
  const view = schema.data?.views.find((one) => (viewId ? one.id === viewId : one.isDefault))
  const failed = [base, schema].find((query) => query.error && !query.data)
  const isRead = base.data && (tableId === undefined || schema.data)

  if (failed || !isRead || !base.data) {
    return (
      <Dialog title={m.common_share()} onClose={onClose}>
        {failed ? (
          <QueryError title={m.shares_links_load_failed()} query={failed} />
        ) : (
          <Skeleton height={240} />
        )}
      </Dialog>
    )
  }
  const refusal = shareRefusal(base.data.role)
  return (
    <Dialog title={m.common_share()} onClose={onClose}>
      {refusal ? <Alert>{refusal}</Alert> : <Parts base={base.data} view={view} onClose={onClose} />}
    </Dialog>
  )
}

function Parts({ base, view, onClose }: { base: Base; view: View | undefined; onClose: () => void }) {
  const [part, setPart] = useState<'view' | 'base'>(view ? 'view' : 'base')
  const schema = trpc.schema.table.useQuery({ tableId: view?.tableId ?? '' }, { enabled: view !== undefined })
  const mayShareView = view !== undefined && roleCan(base.role, 'view.share')
  const tabs = [
    ...(mayShareView ? [{ id: 'view', name: m.common_view(), target: view.title } as const] : []),
    ...(roleCan(base.role, 'base.share')
      ? [{ id: 'base', name: m.common_base(), target: base.title } as const]
      : []),
  ].map(({ id, name, target }) => ({
    id,
    label: (
      <>
        {name}
        <span className={styles.target} dir="auto">
          {target}
        </span>
      </>
    ),
  }))
  return (
    <Tabs
      label={m.shares_what_to_share()}
      tabs={tabs}
      selected={part}
      onSelect={setPart}
      className={styles.tabs}
      autoFocus
    >
      {part === 'view' && view && schema.data ? (
        <ViewShare key={view.id} view={view} schema={schema.data} />
      ) : (
        <BaseShare base={base} onClose={onClose} />
      )}
    </Tabs>
  )
}

/** Public link of a base. */
function BaseShare({ base, onClose }: { base: Base; onClose: () => void }) {
  const roles = [
    { role: 'viewer', label: m.shares_viewer(), hint: m.shares_view_every_table_base() },
    { role: 'editor', label: m.shares_editor(), hint: m.shares_also_add_edit_delete_records() },
  ] as const
  return (
    <LinkPanel
      kind="base"
      targetId={base.id}
      title={base.title}
      hint={m.shares_base_link_hint()}
      summary={m.shares_base_summary()}
      beforeSettings={(share, change) => (
        <fieldset className={styles.choices}>
          <legend className={styles.legend}>{m.shares_visitor_permissions()}</legend>
          {roles.map(({ role, label, hint }) => (
            <label key={role} className={styles.choice}>
              <input
                type="radio"
                name={`role-${base.id}`}
                checked={share.role === role}
                onChange={() => change({ role })}
              />
              <span>
                {label}
                <small className={styles.hint}>{hint}</small>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      afterSettings={({ settings }, change) => (
        <Switch
          label={m.shares_allow_download()}
          hint={m.shares_base_download_hint()}
          checked={settings.allowDownload}
          onChange={(allowDownload) => change({ settings: { allowDownload } })}
        />
      )}
    >
      <p className={styles.seen}>
        {m.shares_members_hint()}{' '}
        <a href={hrefOf(paths.members(base.id))} onClick={onClose}>
          {m.shares_members_of_the_base()}
        </a>
      </p>
    </LinkPanel>
  )
}

/** Public link of a view. */
function ViewShare({ view, schema }: { view: View; schema: TableSchema }) {
  const isForm = collectsAnswers(view)
  return (
    <LinkPanel
      kind="view"
      targetId={view.id}
      title={view.title}
      viewKind={view.kind}
      hint={isForm ? m.shares_form_link_hint() : m.shares_view_link_hint()}
      summary={visitorSummary(schema, view).join(' ')}
      beforeSettings={(share, change) =>
        isForm && (
          <>
            <Switch
              label={m.shares_survey()}
              hint={m.shares_survey_hint()}
              checked={share.settings.survey}
              onChange={(survey) => change({ settings: { survey } })}
            />
            <PrefillBuilder address={addressOfShare(share, view.kind)} schema={schema} view={view} />
          </>
        )
      }
      afterSettings={({ settings }, change) => (
        <>
          {!isForm && (
            <Switch
              label={m.shares_allow_download()}
              hint={m.shares_view_download_hint()}
              checked={settings.allowDownload}
              onChange={(allowDownload) => change({ settings: { allowDownload } })}
            />
          )}
          {availableLanguages().length > 1 && (
            <SelectField
              label={m.shares_page_language()}
              value={settings.language ?? ''}
              onChange={(event) => change({ settings: { language: event.target.value || null } })}
            >
              <option value="">{m.shares_visitors_language()}</option>
              {availableLanguages().map((code) => (
                <option key={code} value={code} lang={code.replace('_', '-')}>
                  {LANGUAGE_NAMES[code]}
                </option>
              ))}
            </SelectField>
          )}
          <Switch
            label={m.shares_right_to_left()}
            hint={m.shares_right_to_left_hint()}
            checked={settings.rtl}
            onChange={(rtl) => change({ settings: { rtl } })}
          />
          <ThemeColor
            color={settings.themeColor}
            onChange={(themeColor) => change({ settings: { themeColor } })}
          />
        </>
      )}
    />
  )
}

type LinkOptions = (share: Share, change: ShareState['change']) => ReactNode

interface LinkPanelProps {
  kind: ShareKind
  targetId: string
  title: string
  viewKind?: ViewKind
  /** Explains the switch. */
  hint: string
  /** Describes what visitors see. */
  summary: string
  /** Options before and after address, password and expiry. */
  beforeSettings?: LinkOptions
  afterSettings?: LinkOptions
  /** Shown whether the link exists or not. */
  children?: ReactNode
}

/** A public link: switched on or off, then its URL and settings. */
function LinkPanel(props: LinkPanelProps) {
  const {
    kind,
    targetId,
    title,
    viewKind = null,
    hint,
    summary,
    beforeSettings,
    afterSettings,
    children,
  } = props
  const state = useShare(kind, targetId, title)
  const { share, change, save } = state
  if (state.error && share === undefined)
    return <QueryError title={m.shares_link_load_failed()} query={state} />
  if (share === undefined) return <Skeleton height={200} />
  const address = share && addressOfShare(share, viewKind)
  return (
    <div className={styles.part}>
      <Switch
        label={m.shares_public_link()}
        hint={hint}
        checked={share !== null}
        onChange={(on) => (on ? change({}) : state.close())}
      />
      {share === null && kind !== 'base' && <p className={styles.seen}>{summary}</p>}
      {share !== null && address !== null && (
        <>
          <ShareLink address={address} title={title} onRegenerate={state.regenerate} />
          {share.isBlocked && <Alert tone="error">{m.shares_link_blocked()}</Alert>}
          <p className={styles.seen} data-testid="what-is-seen">
            {summary}{' '}
            {share.lastVisitAt === null
              ? m.shares_not_opened_yet()
              : m.shares_last_opened_ago({ ago: formatAgo(share.lastVisitAt) })}{' '}
            {viewKind !== null &&
              collectsAnswers({ kind: viewKind }) &&
              m.shares_responses_count({ count: share.answers })}
          </p>
          {beforeSettings?.(share, change)}
          <SharingAddress address={address} share={share} onSave={save} />
          <SharePassword hasPassword={share.hasPassword} onSave={save} />
          <ShareExpiry expiresAt={share.expiresAt} onSave={save} />
          {afterSettings?.(share, change)}
        </>
      )}
      {children}
    </div>
  )
}

interface ThemeColorProps {
  /** `#RRGGBB`; null: colour of the base. */
  color: string | null
  onChange: (color: string | null) => void
}

/** Theme colour of a public page. */
function ThemeColor({ color, onChange }: ThemeColorProps) {
  const name = useId()
  const colors: readonly string[] = BASE_COLORS
  const all = color === null || colors.includes(color) ? colors : [...colors, color]
  return (
    <fieldset className={styles.choices}>
      <legend className={styles.legend}>{m.shares_theme_colour()}</legend>
      <div className={styles.swatches}>
        <label className={styles.noColor}>
          <input type="radio" name={name} checked={color === null} onChange={() => onChange(null)} />
          {m.shares_default()}
        </label>
        {all.map((one, index) => (
          <label key={one} className={styles.swatch} style={{ background: one }}>
            <input
              type="radio"
              name={name}
              aria-label={m.common_colour_number({ n: index + 1 })}
              checked={one === color}
              onChange={() => onChange(one)}
            />
          </label>
        ))}
      </div>
    </fieldset>
  )
}

interface DiagramShareDialogProps {
  /** Databases of the base, each with its own diagram. */
  sources: readonly { id: string; title: string }[]
  /** Title of the base, for the embed code. */
  title: string
  onClose: () => void
}

/** Public link of a diagram. */
export function DiagramShareDialog({ sources, title, onClose }: DiagramShareDialogProps) {
  const [sourceId, setSourceId] = useState(sources[0]?.id ?? '')
  return (
    <Dialog title={m.shares_share_diagram()} onClose={onClose}>
      {sources.length > 1 && (
        <SelectField
          label={m.shares_source()}
          value={sourceId}
          onChange={(event) => setSourceId(event.target.value)}
        >
          {sources.map((source) => (
            <option key={source.id} value={source.id}>
              {source.title}
            </option>
          ))}
        </SelectField>
      )}
      <LinkPanel
        key={sourceId}
        kind="erd"
        targetId={sourceId}
        title={title}
        hint={m.shares_diagram_link_hint()}
        summary={m.shares_diagram_summary()}
      />
    </Dialog>
  )
}
