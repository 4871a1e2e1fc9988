import type { Base } from '../../../src/core/model.ts'
import { formatAgo, t } from '../../i18n.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { addressOfShare } from './share-address.ts'
import { SharingAddress } from './share-address-field.tsx'
import styles from './share-dialog.module.css'
import { ShareExpiry } from './share-expiry.tsx'
import { ShareLink } from './share-link.tsx'
import { SharePassword } from './share-password.tsx'
import { useShare } from './use-share.ts'

/** The public link of a base: on or off, and what one may do there. */
export function BaseShare({ base, onClose }: { base: Base; onClose: () => void }) {
  const state = useShare('base', base.id, base.title)
  const { share, change } = state
  if (state.error && share === undefined) {
    return <ErrorState title={t('The link could not be loaded')} error={state.error} onRetry={state.retry} />
  }
  if (share === undefined) return <Skeleton height={200} />
  const roles = [
    { role: 'viewer', label: t('Viewer'), hint: t('Can view every table in the base.') },
    {
      role: 'editor',
      label: t('Editor'),
      hint: t('Can also add, edit and delete records without signing in.'),
    },
  ] as const
  return (
    <div className={styles.part}>
      <Switch
        label={t('Public link')}
        hint={t('Anyone with the link can open the whole base without signing in.')}
        checked={share !== null}
        onChange={(on) => (on ? change({}) : state.close())}
      />
      {share !== null && (
        <>
          <ShareLink
            address={addressOfShare(share, null)}
            title={base.title}
            onRegenerate={state.regenerate}
          />
          <p className={styles.seen}>
            {t('Visitors can see every table with all its fields and records.')}{' '}
            {share.lastVisitAt === null
              ? t('Not opened yet.')
              : t('Last opened {ago}.', { ago: formatAgo(share.lastVisitAt) })}
          </p>
          <fieldset className={styles.choices}>
            <legend className={styles.legend}>{t('Visitor permissions')}</legend>
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
          <SharingAddress address={addressOfShare(share, null)} share={share} onSave={state.save} />
          <SharePassword hasPassword={share.hasPassword} onSave={state.save} />
          <ShareExpiry expiresAt={share.expiresAt} onSave={state.save} />
          <Switch
            label={t('Allow download')}
            hint={t('Visitors can download each view as CSV, Excel or JSON.')}
            checked={share.settings.allowDownload}
            onChange={(allowDownload) => change({ settings: { allowDownload } })}
          />
        </>
      )}
      <p className={styles.seen}>
        {t('To share with people who have an account, add them to the')}{' '}
        <a href={hrefOf(paths.members(base.id))} onClick={onClose}>
          {t('members of the base')}
        </a>
      </p>
    </div>
  )
}
