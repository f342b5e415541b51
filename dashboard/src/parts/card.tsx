import type { ReactNode } from 'react';

interface CardProps {
  readonly title: string;
  /** Behind the title; what is to stand at the end follows a `<span className="grow" />`. */
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

export function Card({ title, head, children }: CardProps) {
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        {head}
      </div>
      {children}
    </section>
  );
}

/** A line of a list of facts. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
