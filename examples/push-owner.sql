-- The devices of examples/push-owner.yaml, for psql: a table that an application owns and keeps.
create table devices (
  id bigint generated always as identity primary key,
  name text not null,
  token text not null unique,
  registered_at timestamptz not null default now(), -- of the token: set it anew, with a new one or the same, when the app registers
  gone_at timestamptz                               -- since when the device is gone; examples/push-owner.yaml sets it
);

insert into devices (name, token, registered_at)
select 'user ' || i, lpad(to_hex(i), 64, '0'), timestamptz '2026-01-01' + i * interval '1 minute' from generate_series(1, 200) as i;
