import { useId } from 'react'
import type { TableSchema, View } from '../../../src/core/model.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { availableLanguages, formatAgo } from '../../i18n.ts'
import { LANGUAGE_NAMES } from '../../language-names.ts'
import { m } from '../../messages.gen.ts'
import { Alert } from '../../ui/alert.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { BASE_COLORS } from '../layout/base-icon.tsx'
import { PrefillBuilder } from './prefill-builder.tsx'
import { addressOfShare } from './share-address.ts'
import { SharingAddress } from './share-address-field.tsx'
import styles from './share-dialog.module.css'
import { ShareExpiry } from './share-expiry.tsx'
import { ShareLink } from './share-link.tsx'
import { SharePassword } from './share-password.tsx'
import { useShare } from './use-share.ts'
import { whatIsSeen } from './what-is-seen.ts'

/** The public link of a view: on or off, and how its page is. */
export function ViewShare({ view, schema }: { view: View; schema: TableSchema }) {
  const state = useShare('view', view.id, view.title)
  const { share, change } = state
  if (state.error && share === undefined) {
    return <ErrorState title={m.shares_link_load_failed()} error={state.error} onRetry={state.retry} />
  }
  if (share === undefined) return <Skeleton height={200} />
  const isForm = collectsAnswers(view)
  return (
    <div className={styles.part}>
      <Switch
        label={m.shares_public_link()}
        hint={isForm ? m.shares_anyone_link_fill_form_without() : m.shares_anyone_link_view_without_signing()}
        checked={share !== null}
        onChange={(on) => (on ? change({}) : state.close())}
      />
      {share === null ? (
        <p className={styles.seen}>{whatIsSeen(schema, view).join(' ')}</p>
      ) : (
        <>
          <ShareLink
            address={addressOfShare(share, view.kind)}
            title={view.title}
            onRegenerate={state.regenerate}
          />
          {share.isBlocked && <Alert tone="error">{m.shares_link_shows_no_records_because()}</Alert>}
          <p className={styles.seen} data-testid="what-is-seen">
            {whatIsSeen(schema, view).join(' ')}{' '}
            {share.lastVisitAt === null
              ? m.shares_not_opened_yet()
              : m.shares_last_opened_ago({ ago: formatAgo(share.lastVisitAt) })}{' '}
            {isForm && m.shares_responses_count({ count: share.answers })}
          </p>
          {isForm && (
            <>
              <Switch
                label={m.shares_survey()}
                hint={m.shares_show_one_question_time()}
                checked={share.settings.survey}
                onChange={(survey) => change({ settings: { survey } })}
              />
              <PrefillBuilder address={addressOfShare(share, view.kind)} schema={schema} view={view} />
            </>
          )}
          <SharingAddress address={addressOfShare(share, view.kind)} share={share} onSave={state.save} />
          <SharePassword hasPassword={share.hasPassword} onSave={state.save} />
          <ShareExpiry expiresAt={share.expiresAt} onSave={state.save} />
          {!isForm && (
            <Switch
              label={m.shares_allow_download()}
              hint={m.shares_visitors_download_view_csv_excel()}
              checked={share.settings.allowDownload}
              onChange={(allowDownload) => change({ settings: { allowDownload } })}
            />
          )}
          <SelectField
            label={m.shares_page_language()}
            value={share.settings.language ?? ''}
            onChange={(event) => change({ settings: { language: event.target.value || null } })}
          >
            <option value="">{m.shares_visitors_language()}</option>
            {availableLanguages().map((code) => (
              <option key={code} value={code} lang={code.replace('_', '-')}>
                {LANGUAGE_NAMES[code]}
              </option>
            ))}
          </SelectField>
          <Switch
            label={m.shares_right_to_left()}
            hint={m.shares_lay_out_page_right_left()}
            checked={share.settings.rtl}
            onChange={(rtl) => change({ settings: { rtl } })}
          />
          <ThemeColor
            color={share.settings.themeColor}
            onChange={(themeColor) => change({ settings: { themeColor } })}
          />
        </>
      )}
    </div>
  )
}

interface ThemeColorProps {
  /** `#RRGGBB`; null: that of the base. */
  color: string | null
  onChange: (color: string | null) => void
}

/** The colour of a public page's buttons and links: one on which white can be read. */
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
