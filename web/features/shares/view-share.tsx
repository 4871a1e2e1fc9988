import type { TableSchema, View } from '../../../src/core/model.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { availableLanguages, formatAgo, t, tn } from '../../i18n.ts'
import { LANGUAGE_NAMES } from '../../language-names.ts'
import { Alert } from '../../ui/alert.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { PrefillBuilder } from './prefill-builder.tsx'
import { addressOfShare } from './share-address.ts'
import { SharingAddress } from './share-address-field.tsx'
import styles from './share-dialog.module.css'
import { ShareExpiry } from './share-expiry.tsx'
import { ShareLink } from './share-link.tsx'
import { SharePassword } from './share-password.tsx'
import { ThemeColor } from './theme-color.tsx'
import { useShare } from './use-share.ts'
import { whatIsSeen } from './what-is-seen.ts'

/** The public link of a view: on or off, and how its page is. */
export function ViewShare({ view, schema }: { view: View; schema: TableSchema }) {
  const state = useShare('view', view.id, view.title)
  const { share, change } = state
  if (state.error && share === undefined) {
    return <ErrorState title={t('The link could not be loaded')} error={state.error} onRetry={state.retry} />
  }
  if (share === undefined) return <Skeleton height={200} />
  const isForm = collectsAnswers(view)
  return (
    <div className={styles.part}>
      <Switch
        label={t('Public link')}
        hint={
          isForm
            ? t('Anyone with the link can fill in the form without signing in.')
            : t('Anyone with the link can view this without signing in.')
        }
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
          {share.isBlocked && (
            <Alert tone="error">
              {t(
                'The link shows no records because this view filters by a deleted or invalid field. Edit the filter or restore the field.',
              )}
            </Alert>
          )}
          <p className={styles.seen} data-testid="what-is-seen">
            {whatIsSeen(schema, view).join(' ')}{' '}
            {share.lastVisitAt === null
              ? t('Not opened yet.')
              : t('Last opened {ago}.', { ago: formatAgo(share.lastVisitAt) })}{' '}
            {isForm && tn('1 response.', '{n} responses.', share.answers)}
          </p>
          {isForm && (
            <>
              <Switch
                label={t('Survey')}
                hint={t('Show one question at a time.')}
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
              label={t('Allow download')}
              hint={t('Visitors can download this view as CSV, Excel or JSON.')}
              checked={share.settings.allowDownload}
              onChange={(allowDownload) => change({ settings: { allowDownload } })}
            />
          )}
          <SelectField
            label={t('Page language')}
            value={share.settings.language ?? ''}
            onChange={(event) => change({ settings: { language: event.target.value || null } })}
          >
            <option value="">{t('Visitor’s language')}</option>
            {availableLanguages().map((code) => (
              <option key={code} value={code} lang={code.replace('_', '-')}>
                {LANGUAGE_NAMES[code]}
              </option>
            ))}
          </SelectField>
          <Switch
            label={t('Right to left')}
            hint={t('Lay out the page from right to left in any language.')}
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
