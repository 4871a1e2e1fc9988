import type { FormOptions } from '../../../src/core/views/form.ts'
import { RichText } from '../../rich-text/rich-text.tsx'
import styles from './form.module.css'

/** The top of a form: banner, logo, heading and description. */
export function FormHeader(props: {
  options: FormOptions
  title: string
  pictures: { banner: string | null; logo: string | null }
}) {
  const { options, title, pictures } = props
  return (
    <>
      <Pictures options={options} pictures={pictures} />
      <header className={styles.header}>
        <h1 className={styles.title} dir="auto">
          {options.heading || title}
        </h1>
        {options.subheading && <RichText text={options.subheading} className={styles.about} />}
      </header>
    </>
  )
}

/** Banner and logo; their space is reserved while they load. */
export function Pictures({
  options,
  pictures,
}: Pick<Parameters<typeof FormHeader>[0], 'options' | 'pictures'>) {
  const hasBanner = !options.hideBanner && options.bannerPath !== null
  return (
    <>
      {hasBanner && (
        <div className={styles.banner}>{pictures.banner && <img src={pictures.banner} alt="" />}</div>
      )}
      {options.logoPath !== null && (
        <div className={styles.logo} data-over={hasBanner || undefined}>
          {pictures.logo && <img src={pictures.logo} alt="" />}
        </div>
      )}
    </>
  )
}
