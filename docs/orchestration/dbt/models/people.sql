select * from read_csv('{{ env_var("RELEASE_PEOPLE") }}', all_varchar = true)
